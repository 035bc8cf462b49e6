// The exact Euclidean distance transform of a volume with voxels of any size.
#pragma once

#include <limits>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// For every voxel, the squared distance to the nearest set one, in the unit of the spacing;
// infinite if it is above `limit`, or if none is set. One dimension after the other by lower
// envelopes of parabolas (Felzenszwalb and Huttenlocher, "Distance transforms of sampled
// functions", 2012). Distances above the limit are dropped after each dimension, which makes small
// limits quick. 4 bytes per voxel. Throws Error if the spacing is invalid.
std::vector<float> squared_distances(const Mask& mask, const Spacing& spacing,
                                     double limit = std::numeric_limits<double>::infinity());

}  // namespace lockstep::volume
