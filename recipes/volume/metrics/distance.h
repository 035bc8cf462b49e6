// Computes the exact Euclidean distance transform of a binary volume with voxels of any size.
#pragma once

#include <limits>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Returns the squared distance of every voxel to the nearest set voxel, in the squared unit of the
// spacing. The result is infinite for voxels whose distance is above `limit`, and for all voxels if
// none is set. Takes 4 bytes per voxel. Throws Error if the spacing is invalid.
//
// The dimensions are processed one after the other by lower envelopes of parabolas (Felzenszwalb
// and Huttenlocher, "Distance transforms of sampled functions", 2012). After each dimension,
// distances above the limit are dropped. This makes small limits fast.
std::vector<float> squared_distances(const Mask& mask, const Spacing& spacing,
                                     double limit = std::numeric_limits<double>::infinity());

}  // namespace lockstep::volume
