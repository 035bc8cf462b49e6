// Checks the volumes of a set and splits them.
#include "recipes/volume/prepare/find/entries.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/cache/volume_part.h"
#include "recipes/volume/prepare/set_statistics.h"
#include "recipes/volume/prepare/split.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

void check_channels(const std::vector<VolumeEntry>& entries) {
  for (const VolumeEntry& entry : entries)
    if (entry.shape.channels != entries[0].shape.channels)
      throw Error(cat("the volumes have different numbers of channels: ", entries[0].shape.channels,
                      " in ", entries[0].image.string(), ", but ", entry.shape.channels, " in ",
                      entry.image.string()),
                  "give all of them the same channels, or leave some out by data.csv");
}

// The smallest type that represents the voxels of all volumes.
VoxelType common_type(const std::vector<VolumeEntry>& entries) {
  VoxelType type = VoxelType::u8;
  for (const VolumeEntry& entry : entries)
    type = std::max(type, CachedVolume(entry.cached).header().type);
  return type;
}

// Holds back rows or columns, because the volume has too few planes for that.
void split_part(const VolumeEntry& entry, const VolumePart& held_back, const VolumeOptions& options,
                const fs::path& folder, PreparedVolumes& volumes, const Say& say) {
  const CacheLimits limits{.most_gb = options.data.cache_gb};
  const VolumePart rest{.axis = held_back.axis, .begin = 0, .end = held_back.begin};
  volumes.train = {part_of(entry, rest, folder, limits)};
  volumes.valid = {part_of(entry, held_back, folder, limits)};
  say(cat("there is one volume, ", entry.id, ", of ", entry.shape.depth, " planes: its last ",
          held_back.end - held_back.begin, " of ", held_back.end,
          held_back.axis == 1 ? " rows" : " columns", " are held back for validation"));
}

// Holds back the last planes of the only volume for validation, or its last rows or columns.
void split_one(const VolumeEntry& entry, const VolumeOptions& options, const fs::path& folder,
               PreparedVolumes& volumes, const Say& say) {
  const std::int64_t planes = held_back_planes(options, entry.shape.depth);
  VolumeEntry train = entry, valid = entry;
  train.end = valid.begin = entry.end - planes;
  volumes.train = {train};
  if (planes > 0) {
    volumes.valid = {valid};
    say(cat("there is one volume, ", entry.id, ": its last ", planes, " of ", entry.shape.depth,
            " planes are held back for validation"));
  } else if (const auto part = held_back_part(options, entry.shape)) {
    split_part(entry, *part, options, folder, volumes, say);
  } else if (options.data.valid_share > 0 && options.data.folds < 2) {
    say(cat("warning: there is one volume, ", entry.id, ", and with ", describe(entry.shape),
            " it is too small to hold some back from patches of ", join(options.data.patch, ","),
            ": nothing is validated; a smaller data.patch or data.pad=true change that"));
  }
}

// A part that is held back from a single volume may be thinner than a patch, because tiles may
// extend beyond it.
void check_sizes(const PreparedVolumes& volumes, const VolumeOptions& options) {
  const DecodeOptions how = training_options(options);
  for (const VolumeEntry& entry : volumes.train)
    check_holds_patch(entry.image, {entry.end - entry.begin, entry.shape.height, entry.shape.width},
                      how);
  for (const VolumeEntry& entry : volumes.valid)
    if (!entry.part)
      check_holds_patch(entry.image, {entry.shape.depth, entry.shape.height, entry.shape.width},
                        how);
}

std::vector<std::string> without_foreground(const std::vector<VolumeEntry>& entries) {
  std::vector<std::string> ids;
  for (const VolumeEntry& entry : entries)
    if (CachedVolume(entry.cached).positives(entry.begin, entry.end) == 0) ids.push_back(entry.id);
  return ids;
}

void warn_of_empty(const std::vector<std::string>& ids, const char* what, const Say& say) {
  if (ids.empty()) return;
  say(cat("warning: ", ids.size(), ids.size() == 1 ? " volume" : " volumes", " for ", what,
          ids.size() == 1 ? " has" : " have", " no foreground: ", first_five(ids)));
}

}  // namespace

std::vector<VolumeEntry> cached_entries(const std::vector<Pair>& pairs, const DecodeOptions& how,
                                        const CacheLimits& limits, const fs::path& folder,
                                        const Say& say) {
  const std::vector<fs::path> cached = cache_volumes(pairs, how, folder, limits, say);
  std::vector<VolumeEntry> entries;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const VolumeShape shape = CachedVolume(cached[i]).shape();
    entries.push_back({.id = pairs[i].id,
                       .cached = cached[i],
                       .image = pairs[i].image,
                       .label = pairs[i].label,
                       .begin = 0,
                       .end = shape.depth,
                       .shape = shape});
  }
  check_channels(entries);
  return entries;
}

PreparedVolumes split_entries(const std::vector<VolumeEntry>& entries, const VolumeOptions& options,
                              const fs::path& folder, const Say& say) {
  std::vector<std::string> ids;
  for (const VolumeEntry& entry : entries) ids.push_back(entry.id);
  const std::vector<bool> is_valid = choose_valid(options, ids);
  PreparedVolumes volumes{
      .train = {},
      .valid = {},
      .channels = entries.at(0).shape.channels,
      .type = common_type(entries),
      .normalization = {.kind = options.data.normalize, .divide = options.data.divide}};
  if (entries.size() == 1) {
    split_one(entries[0], options, folder, volumes, say);
  } else {
    for (std::size_t i = 0; i < entries.size(); ++i)
      (is_valid[i] ? volumes.valid : volumes.train).push_back(entries[i]);
  }
  check_entries(volumes, options, say);
  if (options.data.normalize == Normalize::ct)
    volumes.normalization.set = foreground_statistics(volumes.train, folder, say);
  return volumes;
}

void check_entries(const PreparedVolumes& volumes, const VolumeOptions& options, const Say& say) {
  check_sizes(volumes, options);
  const std::vector<std::string> empty = without_foreground(volumes.train);
  if (empty.size() == volumes.train.size())
    throw Error(cat("there is nothing to learn: no label of the ", volumes.train.size(),
                    volumes.train.size() == 1 ? " training volume" : " training volumes",
                    " is foreground, such as ", volumes.train[0].label.string()),
                "foreground is what is neither 0 nor data.ignore; see that the labels are those of "
                "the images");
  warn_of_empty(empty, "training", say);
  warn_of_empty(without_foreground(volumes.valid), "validation", say);
}

}  // namespace lockstep::volume
