// Computes the 95th percentile of the Hausdorff distance, as MedPy's `hd95` defines it.
//
// The surface of a mask consists of its voxels that share a face with a background voxel.
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

// The result is in the unit of the spacing. Returns nothing if a mask is empty, because there is
// then no distance. Takes 4 bytes per voxel of the box around both masks. Throws Error if the
// shapes differ or the spacing is invalid.
std::optional<double> hausdorff_95(const Mask& truth, const Mask& predicted,
                                   const Spacing& spacing);

}  // namespace lockstep::volume
