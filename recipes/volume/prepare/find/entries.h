// Turns pairs into entries: decoded, checked against the options, and split.
#pragma once

#include <filesystem>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/cache/cache_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns whole volumes, in the order of the pairs. folder: the cache. Throws the Errors of
// cache_volumes, and an Error if numbers of channels differ.
std::vector<VolumeEntry> cached_entries(const std::vector<Pair>& pairs, const DecodeOptions& how,
                                        const CacheLimits& limits,
                                        const std::filesystem::path& folder, const Say& say);

// Splits the entries into `train` and `valid` of a new record, with channels, type and
// normalisation. Says which part of a single volume is held back. Throws Error.
PreparedVolumes split_entries(const std::vector<VolumeEntry>& entries, const VolumeOptions& options,
                              const std::filesystem::path& folder, const Say& say);

// Throws Error if a volume is smaller than a patch (unless data.pad allows it), or if no training
// volume has foreground. Says which volumes have none.
void check_entries(const PreparedVolumes& volumes, const VolumeOptions& options, const Say& say);

}  // namespace lockstep::volume
