// Computes the 95th percentile of the Hausdorff distance, as MedPy's `hd95` defines it.
//
// The surface of a mask consists of its set voxels that share a face with a background voxel.
// Everything outside the volume is background. For each surface voxel of either mask, the distance
// to the nearest surface voxel of the other mask is computed. Distances are Euclidean, between
// centres of voxels. The result is the 95th percentile of all these distances together,
// interpolated linearly.
#pragma once

#include <optional>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Returns the surface of a mask, as defined above.
Mask surface_voxels(const Mask& mask);

// Returns the distance in the unit of the spacing. Returns no value if a mask has no set voxel,
// because no distance is defined then. Takes 4 bytes of memory for each voxel in the smallest box
// around both masks. Throws Error if the shapes differ or the spacing is invalid.
std::optional<double> hausdorff_95(const Mask& truth, const Mask& predicted,
                                   const Spacing& spacing);

}  // namespace lockstep::volume
