// Statistics of the foreground of a whole set, for data.normalize=ct.
#pragma once

#include <vector>

#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Statistics of each channel, over all foreground voxels in the entries' planes. Quantiles are
// exact within one part in 65,536 of the range. The statistics are kept with the cached volumes,
// because computing them requires reading all volumes.
std::vector<ChannelStatistics> foreground_statistics(const std::vector<VolumeEntry>& entries,
                                                     const std::filesystem::path& folder,
                                                     const Say& say);

}  // namespace lockstep::volume
