// Volumes with their labels.
#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "recipes/volume/prepare/find_volumes.h"

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

// ID_0000 becomes ID where labels are called so (nnU-Net).
Volumes named_as_labels(Volumes images, const Volumes& labels) {
  for (const auto& [id, label] : labels) {
    if (images.contains(id)) continue;
    const auto first = images.find(id + "_0000");
    if (first == images.end() || labels.contains(first->first)) continue;
    if (const auto second = images.find(id + "_0001"); second != images.end())
      throw Error(cat("the volume ", id,
                      " has its channels in several files: ", first->second.filename().string(),
                      " and ", second->second.filename().string()),
                  "write the channels of a volume into one file, a NIfTI file of 4 dimensions");
    auto node = images.extract(first);
    node.key() = id;
    images.insert(std::move(node));
  }
  return images;
}

Pair pair_of(const std::string& id, const std::string& place, const Volumes& images,
             const Volumes& labels, const Folders& folders) {
  const auto find = [&](const Volumes& volumes, const char* what, const fs::path& folder) {
    const auto found = volumes.find(id);
    if (found == volumes.end())
      throw Error(cat(place.empty() ? "" : place + ": ", "the volume ", id, " has no ", what,
                      " in ", folder.string()),
                  nearest_hint(id, volumes));
    return found->second;
  };
  return {.id = id,
          .image = find(images, "image", folders.images),
          .label = find(labels, "label", folders.labels)};
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
  const Volumes labels = list_volumes(folders.labels);
  const Volumes images = named_as_labels(list_volumes(folders.images), labels);
  if (images.empty())
    throw Error(cat("the folder ", folders.images.string(), " holds no volumes"),
                "a volume is a file .tif, .tiff, .nii or .nii.gz, or a folder of slices");
  std::vector<Pair> pairs;
  if (const fs::path table = table_of(places, folders.images); !table.empty()) {
    for (const TableId& row : read_ids(table))
      pairs.push_back(pair_of(row.id, row.place, images, labels, folders));
  } else {
    for (const auto& [id, image] : images)
      pairs.push_back(pair_of(id, "", images, labels, folders));
    if (labels.size() > pairs.size())
      say(cat("passed over ", labels.size() - pairs.size(),
              labels.size() - pairs.size() == 1 ? " label in " : " labels in ",
              folders.labels.string(), " without an image"));
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.id < b.id; });
  return pairs;
}

}  // namespace lockstep::volume
