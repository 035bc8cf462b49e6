// Finds volumes and their labels.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using Volumes = std::map<std::string, fs::path>;

// Common names of folders with images and labels, such as those of competitions and nnU-Net. The
// two pairs for tests are used only if the user names the folder of images.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> folder_names{
    {{"train_images", "train_labels"},
     {"imagesTr", "labelsTr"},
     {"images", "labels"},
     {"image", "label"},
     {"test_images", "test_labels"},
     {"imagesTs", "labelsTs"}}};
constexpr std::size_t training_folders = 4;

struct Folders {
  fs::path images, labels;
};

std::vector<std::string> folders_in(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (std::error_code ignored; entry->is_directory(ignored))
      names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void check_data_path(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  const std::string near =
      nearest(path.filename().string(), folders_in(fs::absolute(path).parent_path()));
  throw Error(cat("there is no folder ", path.string(), " (data.path)"),
              near.empty() ? "check the path; it is taken from the current folder if relative"
                           : cat("did you mean ", (path.parent_path() / near).string(), "?"));
}

// The name as the user typed it, because the tool has made it absolute.
fs::path typed_name(const fs::path& name) {
  std::error_code ignored;
  if (name.is_relative() || fs::is_directory(name, ignored)) return name;
  const fs::path typed = name.lexically_relative(fs::current_path(ignored));
  return typed.empty() || *typed.begin() == ".." ? name : typed;
}

bool is_for_labels(std::string folder) {
  for (char& c : folder) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 6> words{"label", "mask",  "seg",
                                                  "annot", "truth", "target"};
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return folder.find(word) != std::string::npos; });
}

// Images and labels are checked separately, so that an error never proposes a folder of one for the
// other.
void check_set_folder(const Places& places, const fs::path& folder, bool labels) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return;
  const std::string key = labels ? "data.labels" : "data.images";
  const bool named = !(labels ? places.labels : places.images).empty();
  const fs::path around = !places.path.empty() ? fs::path(places.path) : folder.parent_path();
  std::vector<std::string> names = folders_in(around);
  std::erase_if(names, [&](const std::string& name) { return is_for_labels(name) != labels; });
  std::string near = nearest(folder.filename().string(), names);
  if (near.empty() && names.size() == 1) near = names[0];
  throw Error(cat("there is no folder ", folder.string(), " (", key, ")",
                  named && typed_name(folder) != folder
                      ? cat(", and none called ", typed_name(folder).string(), " in ",
                            places.path.empty() ? "data.path" : places.path)
                      : ""),
              near.empty() ? cat("name the folder of the ", labels ? "labels" : "images", " with ",
                                 key, ": a folder in data.path, or a path")
                           : cat("did you mean ", key, "=",
                                 shell_word((around / near).lexically_normal().string()), "?"));
}

[[noreturn]] void fail_no_images(const fs::path& path) {
  const std::vector<std::string> there = folders_in(path);
  throw Error(cat("there are no images in ", path.string(),
                  ": it has neither train_images nor imagesTr, images or image",
                  there.empty() ? std::string() : cat("; its folders are ", first_five(there))),
              "name the folders with data.images and data.labels");
}

Folders find_folders(const Places& places) {
  if (!places.path.empty()) check_data_path(places.path);
  Folders folders;
  if (!places.images.empty()) folders.images = folder_below(places.path, places.images);
  if (!places.labels.empty()) folders.labels = folder_below(places.path, places.labels);
  for (std::size_t i = 0; folders.images.empty() && i < training_folders; ++i)
    if (std::error_code ignored;
        fs::is_directory(fs::path(places.path) / folder_names[i].first, ignored))
      folders.images = fs::path(places.path) / folder_names[i].first;
  if (folders.images.empty()) fail_no_images(places.path);
  for (const auto& [images, labels] : folder_names)
    if (folders.labels.empty() && folders.images.filename() == images)
      folders.labels = fs::absolute(folders.images).parent_path() / labels;
  if (folders.labels.empty())
    throw Error(cat("data.images is ", folders.images.string(), ", but data.labels is empty"),
                "name the folder of the labels with data.labels");
  check_set_folder(places, folders.images, /*labels=*/false);
  check_set_folder(places, folders.labels, /*labels=*/true);
  return folders;
}

// The files of channels 1 and up, for volumes with a file per channel.
using FurtherChannels = std::map<std::string, std::vector<fs::path>>;

constexpr const char* restore_it =
    "restore the file, or leave the volume out by a table of the others (data.csv)";

// Moves the files of channels 1 and up from `images` to the result. Channel 0 is the volume's own
// file.
std::vector<fs::path> take_channels(const std::string& id, Volumes& images) {
  std::vector<fs::path> further;
  for (auto next = images.lower_bound(channel_name(id, 0)); next != images.end();) {
    const auto named = channel_id(next->first);
    if (!named || named->id != id) break;
    const std::int64_t due = std::ssize(further) + 1;
    if (named->channel != due)
      throw Error(cat("the volume ", id, " has no channel ", due, ": ", channel_name(id, due),
                      " is not beside ", next->second.string()),
                  restore_it);
    further.push_back(next->second);
    next = images.erase(next);
  }
  return further;
}

// Renames ID_0000 to ID if a label is named ID, as in nnU-Net. The files ID_0001 and up become its
// further channels.
FurtherChannels name_as_labels(Volumes& images, const Volumes& labels) {
  FurtherChannels further;
  for (const auto& [id, label] : labels) {
    const std::string first = channel_name(id, 0);
    if (images.contains(id) || labels.contains(first)) continue;
    auto node = images.extract(first);
    if (node.empty()) {
      if (const auto second = images.find(channel_name(id, 1));
          second != images.end() && !labels.contains(second->first))
        throw Error(cat("the volume ", id, " has no channel 0: ", first, " is not beside ",
                        second->second.string()),
                    restore_it);
      continue;
    }
    further[id] = take_channels(id, images);
    node.key() = id;
    images.insert(std::move(node));
  }
  return further;
}

void check_channel_count(const Pair& pair, std::size_t most, const fs::path& folder) {
  const std::size_t channels = pair.further.size() + 1;
  if (channels < most)
    throw Error(cat("the volume ", pair.id, " has no channel ", channels, ": ",
                    channel_name(pair.id, static_cast<std::int64_t>(channels)), " is not in ",
                    folder.string(), ", where other volumes have ", most, " channels"),
                restore_it);
}

std::string missing_hint(const std::string& id, const std::string& place, const Volumes& volumes) {
  const std::string near = nearest_hint(id, volumes);
  return cat(near, near.empty() ? "" : "; else ", "add the file, or ",
             place.empty() ? "leave the volume out by a table of the others (data.csv)"
                           : "remove the line from the table");
}

Pair pair_of(const std::string& id, const std::string& place, const Volumes& images,
             const Volumes& labels, const FurtherChannels& further, const Folders& folders) {
  const auto find = [&](const Volumes& volumes, const char* what, const fs::path& folder) {
    const auto found = volumes.find(id);
    if (found == volumes.end())
      throw Error(cat(place.empty() ? "" : place + ": ", "the volume ", id, " has no ", what,
                      " in ", folder.string()),
                  missing_hint(id, place, volumes));
    return found->second;
  };
  const auto channels = further.find(id);
  return {.id = id,
          .image = find(images, "image", folders.images),
          .label = find(labels, "label", folders.labels),
          .further = channels == further.end() ? std::vector<fs::path>() : channels->second};
}

// The table next to the folder of images: test.csv for folders of tests, train.csv for all others.
fs::path table_of(const Places& places, const fs::path& images) {
  if (!places.csv.empty()) return places.csv;
  const std::string name = images.filename().string();
  const bool test = name == "test_images" || name == "imagesTs";
  std::error_code ignored;
  const fs::path usual = fs::absolute(images).parent_path() / (test ? "test.csv" : "train.csv");
  return fs::exists(usual, ignored) ? usual : fs::path();
}

}  // namespace

fs::path folder_below(const std::string& path, const std::string& name) {
  std::error_code ignored;
  const fs::path below = fs::path(path) / typed_name(name);
  const bool is_below = !path.empty() && fs::is_directory(below, ignored);
  const fs::path folder = (is_below ? below : fs::path(name)).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

std::vector<Pair> find_pairs(const Places& places, const Say& say) {
  const Folders folders = find_folders(places);
  const Volumes labels = list_volumes(folders.labels, places.ending);
  Volumes images = list_volumes(folders.images, places.ending);
  const FurtherChannels further = name_as_labels(images, labels);
  if (images.empty())
    throw Error(cat("the folder ", folders.images.string(), " holds no volumes",
                    places.ending.empty() ? "" : cat(" that end in ", places.ending)),
                "a volume is a file .tif, .tiff, .nii or .nii.gz, or a folder of slices");
  std::vector<Pair> pairs;
  if (const fs::path table = table_of(places, folders.images); !table.empty()) {
    for (const TableId& row : read_ids(table))
      pairs.push_back(pair_of(row.id, row.place, images, labels, further, folders));
  } else {
    for (const auto& [id, image] : images)
      pairs.push_back(pair_of(id, "", images, labels, further, folders));
    if (labels.size() > pairs.size())
      say(cat("passed over ", labels.size() - pairs.size(),
              labels.size() - pairs.size() == 1 ? " label in " : " labels in ",
              folders.labels.string(), " without an image"));
  }
  std::size_t most = 1;
  for (const Pair& pair : pairs) most = std::max(most, pair.further.size() + 1);
  for (const Pair& pair : pairs)
    if (further.contains(pair.id)) check_channel_count(pair, most, folders.images);
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.id < b.id; });
  return pairs;
}

}  // namespace lockstep::volume
