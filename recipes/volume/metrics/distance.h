// Computes the exact Euclidean distance transform of a binary volume with voxels of any size.
#pragma once

#include <limits>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Returns the squared distance of every voxel to the nearest set voxel, in the squared unit of the
// spacing. The result is infinite for voxels whose distance is above `limit`. It is infinite for
// all voxels if no voxel is set. The result takes 4 bytes of memory per voxel. Throws Error as
// check_spacing does.
//
// The dimensions are processed one after the other by lower envelopes of parabolas (Felzenszwalb
// and Huttenlocher, "Distance transforms of sampled functions", 2012). After each dimension,
// distances above the limit are dropped. This makes small limits fast.
std::vector<float> squared_distances(const Mask& mask, const Spacing& spacing,
                                     double limit = std::numeric_limits<double>::infinity());

}  // namespace lockstep::volume
