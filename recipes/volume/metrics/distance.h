// The exact Euclidean distance transform of a volume with voxels of any size.
#pragma once

#include <limits>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Returns, for every voxel, the squared distance to the nearest set voxel, in the squared unit of
// the spacing. It is infinite if the distance is above `limit`, or if no voxel is set. Processes
// one dimension after the other by lower envelopes of parabolas (Felzenszwalb and Huttenlocher,
// "Distance transforms of sampled functions", 2012). Distances above the limit are dropped after
// each dimension, which makes small limits fast. Takes 4 bytes per voxel. Throws Error if the
// spacing is invalid.
std::vector<float> squared_distances(const Mask& mask, const Spacing& spacing,
                                     double limit = std::numeric_limits<double>::infinity());

}  // namespace lockstep::volume
