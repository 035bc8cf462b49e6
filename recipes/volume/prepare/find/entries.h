// Turns pairs of an image and its labels into the entries of a prepared data set. The volumes are
// decoded, checked against the options, and split into training and validation.
#pragma once

#include <filesystem>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/cache/cache_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns an entry for the whole volume of each pair, in the order of the pairs. folder: the cache.
// Throws Error as cache_volumes does. Also throws Error if volumes have different numbers of
// channels.
std::vector<VolumeEntry> cached_entries(const std::vector<Pair>& pairs, const DecodeOptions& how,
                                        const CacheLimits& limits,
                                        const std::filesystem::path& folder, const Say& say);

// Splits the entries into training and validation, and fills the other members of PreparedVolumes.
// If there is a single volume, calls `say` to report which part of it is held back for validation.
// folder: the cache. Throws Error as choose_valid, part_of and check_entries do.
PreparedVolumes split_entries(const std::vector<VolumeEntry>& entries, const VolumeOptions& options,
                              const std::filesystem::path& folder, const Say& say);

// Throws Error if a volume is smaller than a patch, unless data.pad is set. Also throws Error if no
// training volume has foreground. Calls `say` to report which volumes have no foreground.
void check_entries(const PreparedVolumes& volumes, const VolumeOptions& options, const Say& say);

}  // namespace lockstep::volume
