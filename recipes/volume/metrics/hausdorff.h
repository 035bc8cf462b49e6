// The 95th percentile of the Hausdorff distance, as MedPy's `hd95` defines it.
//
// The surface of a mask consists of its voxels with a background voxel beside one of their six
// faces; everything outside the volume is background. Distances are Euclidean, between voxel
// centres: from each surface voxel of either mask to the nearest surface voxel of the other. The
// result is the 95th percentile of all these distances together, interpolated linearly.
#pragma once

#include <optional>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Foreground voxels with a background face neighbour, or at the border of the volume.
Mask surface_voxels(const Mask& mask);

// The result is in the unit of the spacing. Nothing if a mask is empty, since there is no distance
// then. Takes 4 bytes per voxel of the box around both masks. Throws Error if the shapes differ or
// the spacing is invalid.
std::optional<double> hausdorff_95(const Mask& truth, const Mask& predicted,
                                   const Spacing& spacing);

}  // namespace lockstep::volume
