// Computes statistics of the foreground of a whole data set, for data.normalize=ct.
#pragma once

#include <vector>

#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns the statistics of each channel over all foreground voxels in the planes of the entries.
// The errors of the quantiles are at most 1/65,536 of the range of values. The statistics are kept
// in the cache, because computing them requires reading all volumes. folder: the cache.
std::vector<ChannelStatistics> foreground_statistics(const std::vector<VolumeEntry>& entries,
                                                     const std::filesystem::path& folder,
                                                     const Say& say);

}  // namespace lockstep::volume
