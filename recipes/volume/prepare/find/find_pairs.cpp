// Volumes with their labels.
#include <algorithm>
#include <array>
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

// Folders of images and of labels, as competitions, nnU-Net and others name them. The last are
// only taken where the images are named.
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

void check_folder(const fs::path& path, const char* key) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  const std::string near =
      nearest(path.filename().string(), folders_in(fs::absolute(path).parent_path()));
  throw Error(cat("there is no folder ", path.string(), " (", key, ")"),
              near.empty() ? "check the path; it is taken from the current folder if relative"
                           : cat("did you mean ", (path.parent_path() / near).string(), "?"));
}

// A name that is a folder below data.path, or a path.
fs::path below(const std::string& path, const std::string& name) {
  std::error_code ignored;
  const bool is_below = !path.empty() && fs::is_directory(fs::path(path) / name, ignored);
  const fs::path folder = (is_below ? fs::path(path) / name : fs::path(name)).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

[[noreturn]] void fail_no_images(const fs::path& path) {
  const std::vector<std::string> there = folders_in(path);
  throw Error(cat("there are no images in ", path.string(),
                  ": it has neither train_images nor imagesTr, images or image",
                  there.empty() ? std::string() : cat("; its folders are ", first_five(there))),
              "name the folders with data.images and data.labels");
}

Folders find_folders(const Places& places) {
  if (!places.path.empty()) check_folder(places.path, "data.path");
  Folders folders;
  if (!places.images.empty()) folders.images = below(places.path, places.images);
  if (!places.labels.empty()) folders.labels = below(places.path, places.labels);
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
  check_folder(folders.images, "images");
  check_folder(folders.labels, "labels");
  return folders;
}

// Channels from 1 on, of volumes that have a file for each.
using FurtherChannels = std::map<std::string, std::vector<fs::path>>;

constexpr const char* restore_it =
    "restore the file, or leave the volume out by a table of the others (data.csv)";

// Takes the files of a volume's channels from 1 on out of the images. Channel 0 is the volume's own
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

// ID_0000 becomes ID where labels are called so (nnU-Net), and the files after it its channels.
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

Pair pair_of(const std::string& id, const std::string& place, const Volumes& images,
             const Volumes& labels, const FurtherChannels& further, const Folders& folders) {
  const auto find = [&](const Volumes& volumes, const char* what, const fs::path& folder) {
    const auto found = volumes.find(id);
    if (found == volumes.end())
      throw Error(cat(place.empty() ? "" : place + ": ", "the volume ", id, " has no ", what,
                      " in ", folder.string()),
                  nearest_hint(id, volumes));
    return found->second;
  };
  const auto channels = further.find(id);
  return {.id = id,
          .image = find(images, "image", folders.images),
          .label = find(labels, "label", folders.labels),
          .further = channels == further.end() ? std::vector<fs::path>() : channels->second};
}

// The table beside the images, of the same part of the data.
fs::path table_of(const Places& places, const fs::path& images) {
  if (!places.csv.empty()) return places.csv;
  const std::string name = images.filename().string();
  const bool test = name == "test_images" || name == "imagesTs";
  std::error_code ignored;
  const fs::path usual = fs::absolute(images).parent_path() / (test ? "test.csv" : "train.csv");
  return fs::exists(usual, ignored) ? usual : fs::path();
}

}  // namespace

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
