// SurfaceDice: the share of each of two surfaces that lies within a tolerance of the other one.
//
// A point of the surface is a corner of the voxel grid whose eight voxels are neither all
// foreground nor all background. Everything outside the volume is background. These corners are the
// places of the surface elements in Nikolov et al., "Deep learning to achieve clinically applicable
// segmentation of head and neck anatomy" (arXiv:1809.04430); the competition uses the library of
// that paper. That library weights each element by the area of a triangulation; here every point
// counts as one. Other libraries use the foreground voxels that have a background neighbour, half a
// voxel further inside.
#pragma once

#include <cstdint>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The number of points of each surface, and of those within the tolerance of the other. The counts
// can be added up over volumes.
struct SurfaceCounts {
  std::int64_t truth = 0;
  std::int64_t truth_near = 0;
  std::int64_t predicted = 0;
  std::int64_t predicted_near = 0;

  SurfaceCounts& operator+=(const SurfaceCounts& other);
  bool operator==(const SurfaceCounts&) const = default;
};

// (truth_near + predicted_near) / (truth + predicted): 1 if both masks are empty, 0 if one is.
double surface_dice(const SurfaceCounts& counts);

// The points form a mask that is one voxel larger along each axis: point (z, y, x) is the corner
// between voxels z-1 and z, and likewise for y and x.
Mask surface_points(const Mask& mask);

// The voxels within `tolerance` (up to a millionth more) of a set voxel. Exact for any tolerance:
// small ones shift whole rows of bits, large ones use squared_distances. Throws Error if the
// tolerance is negative or not finite, or the spacing is invalid.
Mask within(const Mask& points, const Spacing& spacing, double tolerance);

// The tolerance is in the unit of the spacing, which means voxels if the spacing is 1. Throws Error
// as `within` does, and if the shapes differ.
SurfaceCounts surface_counts(const Mask& truth, const Mask& predicted, const Spacing& spacing,
                             double tolerance);

}  // namespace lockstep::volume
