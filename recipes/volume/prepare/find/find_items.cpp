// Chooses the volumes that are predicted and the names of their outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/zip_writer.h"
#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/prepare/find/nnunet_dataset.h"
#include "recipes/volume/prepare/made_volumes.h"
#include "recipes/volume/prepare/prepare.h"
#include "recipes/volume/prepare/prepared_run.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> test_folders{"test_images", "imagesTs", "test", "images"};

std::string name_of(const fs::path& path) {
  const fs::path near = path.lexically_relative(fs::current_path());
  return near.empty() || *near.begin() == ".." ? path.string() : near.string();
}

PredictItem item_of(const std::string& id, const fs::path& path) {
  const std::string suffix = volume_suffix(path);
  const bool nifti = suffix.starts_with(".nii");
  return {.name = name_of(path),
          .id = id + suffix,
          .path = path.string(),
          .output = id + (nifti ? suffix : ".tif")};
}

// Adds the volumes in the folder and its subfolders. A folder of slices is one volume.
void add_folder(const fs::path& folder, const fs::path& below, std::vector<PredictItem>& items) {
  std::error_code ignored;
  for (const auto& [id, path] : list_nnunet_volumes(folder, nnunet_dataset_around(folder)))
    items.push_back(item_of((below / id).string(), path));
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored) &&
        !entry.path().filename().string().starts_with('.') && !is_slice_folder(entry.path()))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& inner : folders) add_folder(inner, below / inner.filename(), items);
}

PredictItem faulty(const fs::path& path, const std::string& fault) {
  return {
      .name = name_of(path), .id = path.filename().string(), .path = path.string(), .fault = fault};
}

// Lists the files in the same way as every recipe does. Each output gets the file type of its
// input.
std::vector<PredictItem> items_of_files(const std::string& input, const VolumeOptions& options,
                                        const ItemQuery& query) try {
  ItemQuery one = query;
  one.inputs = {input};
  std::vector<PredictItem> items = list_items(options.predict_input(), one);
  for (PredictItem& item : items) {
    if (!item.fault.empty()) continue;
    const std::string suffix = volume_suffix(item.path);
    item.output = item.id.substr(0, item.id.size() - suffix.size()) +
                  (suffix.starts_with(".nii") ? suffix : ".tif");
  }
  return items;
} catch (const Error& error) {
  if (input.empty()) throw;
  return {faulty(fs::absolute(input).lexically_normal(), error.what())};
}

// The items of one input of the command line.
std::vector<PredictItem> items_of_input(const std::string& input, const VolumeOptions& options,
                                        const ItemQuery& query) {
  std::error_code ignored;
  if (!fs::is_directory(input, ignored)) return items_of_files(input, options, query);
  fs::path folder = fs::absolute(input).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (is_slice_folder(folder)) return {item_of(folder.filename().string(), folder)};
  std::vector<PredictItem> items;
  add_folder(folder, "", items);
  if (items.empty())
    items.push_back(faulty(folder, cat("the folder ", name_of(folder), " holds no volumes")));
  return items;
}

// In the archive of predict.submission, outputs have no folders in their names. Returns the reason
// why the item cannot be in the archive, or "" if it can.
std::string fault_in_archive(const PredictItem& item, const std::string& archive,
                             std::map<std::string, std::string>& taken) {
  if (archive.empty()) return "";
  const std::string name = fs::path(item.output).filename().string();
  if (!can_be_in_zip(name)) return cat(printable(name), " cannot be a name in ", archive);
  const auto [other, is_new] = taken.emplace(name, item.name);
  return is_new ? ""
                : cat("it would become ", name, " in ", archive, ", as ", other->second,
                      " does: predict it by itself, with another out=");
}

// Keeps the order and drops files that were already listed. An item gets a fault if its output
// would overwrite another item's output. archive: predict.submission.
std::vector<PredictItem> joined(std::vector<PredictItem> all, const std::string& archive) {
  std::vector<PredictItem> items;
  std::set<std::string> seen;
  std::map<std::string, std::string> taken, ids, in_archive;
  for (PredictItem& item : all) {
    if (!seen.insert(item.path).second) continue;
    item.index = std::ssize(items);
    if (const auto [id, is_new] = ids.emplace(item.id, item.name); !is_new) item.id = item.path;
    if (item.fault.empty()) {
      const auto [other, is_new] = taken.emplace(item.output, item.name);
      if (!is_new)
        item.fault = cat("it would become ", item.output, ", as ", other->second,
                         " does: predict it by itself, with another out=");
      else
        item.fault = fault_in_archive(item, archive, in_archive);
    }
    items.push_back(std::move(item));
  }
  return items;
}

// The number of channels of a volume: from the run's record, or from the options if there is no
// run. 0 = unknown.
std::int64_t known_channels(const VolumeOptions& options, const ItemQuery& query) {
  const nlohmann::json extra =
      query.run_dir.empty() ? nlohmann::json() : extra_of_run(query.run_dir);
  return extra.is_object() && extra.contains("channels") ? extra["channels"].get<std::int64_t>()
                                                         : options.data.channels;
}

// Replaces the id from the file's name by `id`, in the item's id and output.
void rename_item(PredictItem& item, const std::string& id) {
  const std::string before = id_of(item.path);
  for (std::string* const name : {&item.id, &item.output})
    if (const std::size_t at = name->rfind(before); at != name->npos)
      name->replace(at, before.size(), id);
}

// Whether the folder contains a volume with one of these ids. ending: the file ending of its
// volumes. If it is empty, all readable endings are tried, and folders too.
bool has_volume(const fs::path& folder, const std::vector<std::string>& ids,
                const std::string& ending) {
  std::vector<std::string> suffixes{"", ".tif", ".tiff", ".nii", ".nii.gz"};
  if (!ending.empty()) suffixes = {ending};
  std::error_code ignored;
  for (const std::string& id : ids)
    for (const std::string& suffix : suffixes)
      if (fs::exists(folder / (id + suffix), ignored)) return true;
  return false;
}

// ID_0000 becomes the item ID if the other channels of ID are files of their own. The files of the
// other channels are no items.
std::vector<PredictItem> joined_channels(std::vector<PredictItem> all, std::int64_t channels) {
  std::vector<PredictItem> items;
  std::error_code ignored;
  for (PredictItem& item : all) {
    const auto channel = item.fault.empty() ? channel_id(id_of(item.path)) : std::nullopt;
    const fs::path path = item.path;
    const auto beside = [&](std::int64_t number) {
      const std::string ending = path.filename().string().substr(id_of(path).size());
      return path.parent_path() / (channel_name(channel->id, number) + ending);
    };
    const bool joined =
        channels > 1 || (channels == 0 && channel && fs::exists(beside(0), ignored) &&
                         fs::exists(beside(1), ignored));
    if (!channel || !joined) {
      items.push_back(std::move(item));
      continue;
    }
    if (channel->channel != 0) {
      if (fs::exists(beside(0), ignored)) continue;
      item.fault = cat("the volume ", channel->id, " has no channel 0: there is no ",
                       beside(0).filename().string(), " beside ", item.name);
    } else {
      rename_item(item, channel->id);
    }
    items.push_back(std::move(item));
  }
  return items;
}

// With one channel, ID_0000 is named ID, as in nnU-Net. The item keeps its name if the folder also
// contains a volume ID or ID_0001.
std::vector<PredictItem> named_by_case(std::vector<PredictItem> items, std::int64_t channels) {
  if (channels > 1) return items;
  // By folder: the file ending that nnU-Net's dataset.json gives.
  std::map<fs::path, std::string> endings;
  for (PredictItem& item : items) {
    const auto channel = item.fault.empty() ? channel_id(id_of(item.path)) : std::nullopt;
    if (!channel || channel->channel != 0) continue;
    const fs::path folder = fs::path(item.path).parent_path();
    const auto [ending, is_new] = endings.try_emplace(folder);
    if (is_new) ending->second = nnunet_file_ending(nnunet_dataset_around(folder));
    const bool has_ending = item.path.ends_with(ending->second);
    if (!has_volume(folder, {channel->id, channel_name(channel->id, 1)},
                    has_ending ? ending->second : ""))
      rename_item(item, channel->id);
  }
  return items;
}

std::vector<PredictItem> typed_items(const VolumeOptions& options, const ItemQuery& query) {
  const std::int64_t channels = known_channels(options, query);
  std::vector<PredictItem> all;
  for (const std::string& input : query.inputs)
    for (PredictItem& item : items_of_input(input, options, query)) all.push_back(std::move(item));
  std::vector<PredictItem> items =
      joined(named_by_case(joined_channels(std::move(all), channels), channels),
             options.predict.submission);
  const auto good = [](const PredictItem& item) { return item.fault.empty(); };
  if (!items.empty() && std::none_of(items.begin(), items.end(), good))
    throw Error(items[0].fault,
                "a volume is a file .tif, .tiff, .nii or .nii.gz, or a folder of "
                "slices");
  return items;
}

struct TestSet {
  fs::path images, csv;  // if csv is empty, all images are the test set
};

TestSet test_set_in(const fs::path& path) {
  std::error_code ignored;
  const fs::path csv = path / "test.csv";
  return {first_folder(path, std::span(test_folders).first(3)),
          fs::exists(csv, ignored) ? csv : fs::path()};
}

TestSet find_test_set(const VolumeOptions& options, const ItemQuery& query) {
  const auto& predict = options.predict;
  TestSet found;
  if (!predict.images.empty())
    found.images = predict.images;
  else if (!options.data.path.empty())
    found = test_set_in(options.data.path);
  else if (options.made() && (query.run_dir.empty() || is_made_run(query.run_dir)))
    found = test_set_in(made_volumes(query.cache_dir, [](const std::string&) {}));
  else
    throw Error("there is nothing to predict: neither files nor predict.images are given",
                "lockstep predict RUN images=FOLDER, or name files: lockstep predict RUN a.tif");
  if (found.images.empty())
    throw Error(cat("there is nothing to predict: ", options.data.path,
                    " has no folder test_images, imagesTs or test"),
                "name the folder with images=FOLDER");
  if (!predict.csv.empty()) found.csv = predict.csv;
  return found;
}

// Opens each item's file and reads its header, so that files that are no volumes are reported
// before any work.
std::vector<PredictItem> looked_at(std::vector<PredictItem> items, std::int64_t channels,
                                   const VolumeOptions& options) {
  for (PredictItem& item : items) try {
      if (item.fault.empty()) open_item(item.path, channels, options.read_volume());
    } catch (const Error& error) {
      item.fault = error.what();
    }
  return items;
}

std::vector<PredictItem> items_of_table(const TestSet& set,
                                        const std::map<std::string, fs::path>& volumes) {
  std::vector<PredictItem> items;
  std::vector<std::string> missing;
  std::string hint;
  for (const TableId& row : read_ids(set.csv)) {
    auto found = volumes.find(row.id);
    if (found == volumes.end()) found = volumes.find(channel_name(row.id, 0));
    if (found != volumes.end()) {
      items.push_back(item_of(row.id, found->second));
      continue;
    }
    if (missing.empty()) hint = nearest_hint(row.id, volumes);
    missing.push_back(row.id);
  }
  if (!missing.empty())
    throw Error(
        cat(set.csv.string(), " names ", missing.size(),
            missing.size() == 1 ? " volume that is" : " volumes that are", " not in ",
            set.images.string(), ": ", first_five(missing)),
        hint.empty() ? "name the folder with images=FOLDER, the table with csv=FILE" : hint);
  return items;
}

std::vector<PredictItem> found_items(const VolumeOptions& options, const ItemQuery& query) {
  if (!query.inputs.empty()) return typed_items(options, query);
  const TestSet set = find_test_set(options, query);
  std::error_code ignored;
  if (!fs::is_directory(set.images, ignored))
    throw Error(cat("there is no folder ", set.images.string(), " (predict.images)"),
                "check the path; it is taken from the current folder if relative");
  const std::int64_t channels = known_channels(options, query);
  const auto volumes = list_nnunet_volumes(set.images, nnunet_dataset_around(set.images));
  if (!set.csv.empty()) {
    std::vector<PredictItem> items = looked_at(
        joined(joined_channels(items_of_table(set, volumes), channels), options.predict.submission),
        channels, options);
    for (const PredictItem& item : items)
      if (!item.fault.empty())
        throw Error(cat(set.csv.string(), " names a volume that cannot be predicted: ", item.fault),
                    "restore the file, or leave its id out of the table");
    return items;
  }
  std::vector<PredictItem> items;
  for (const auto& [id, path] : volumes) items.push_back(item_of(id, path));
  if (items.empty())
    throw Error(cat("the folder ", set.images.string(), " holds no volumes"),
                "a volume is a file .tif, .tiff, .nii or .nii.gz, or a folder of slices");
  return looked_at(joined(named_by_case(joined_channels(std::move(items), channels), channels),
                          options.predict.submission),
                   channels, options);
}

// Adds the files of the other channels to each item, if channels are separate files.
std::vector<PredictItem> with_channels(std::vector<PredictItem> items, std::int64_t channels,
                                       const VolumeOptions& options) {
  for (PredictItem& item : items) try {
      if (item.fault.empty())
        for (const fs::path& file : files_of_item(item.path, channels, options.read_volume()))
          if (file != item.path) item.further.push_back(file.string());
    } catch (const Error&) {  // the worker reports the error
    }
  return items;
}

// The number of layers of tiles along z, which devices can share.
std::int64_t tile_layers(const VolumeHeader& header, const VolumeOptions& options) {
  std::int64_t depth = header.shape.depth;
  if (options.spacing() && header.spacing_mm)
    depth = resampled_shape(header.shape, *header.spacing_mm, *options.spacing()).depth;
  const std::int64_t tile = options.patch()[0];
  const double step = std::max(1.0, static_cast<double>(tile) * (1 - options.predict.overlap));
  const double more =
      std::ceil(static_cast<double>(std::max<std::int64_t>(0, depth - tile)) / step);
  return 1 + static_cast<std::int64_t>(more);
}

}  // namespace

std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query) {
  // items left over for sharing are always fewer than the devices of a machine
  constexpr std::size_t most_shared = 64;
  const std::int64_t channels = known_channels(options, query);
  std::vector<PredictItem> items = found_items(options, query);
  if (channels > 1) items = with_channels(std::move(items), channels, options);
  for (std::size_t i = items.size() - std::min(items.size(), most_shared); i < items.size(); ++i)
    try {
      if (items[i].fault.empty())
        items[i].pieces = tile_layers(
            open_item(items[i].path, channels, options.read_volume())->header(), options);
    } catch (const Error&) {  // the worker reports the error
      items[i].pieces = 1;
    }
  return items;
}

}  // namespace lockstep::volume
