// Computes SurfaceDice for two surfaces: the share of their points that lie within a tolerance of
// the other surface.
//
// A point of the surface is a corner of the voxel grid that touches both foreground and background
// voxels. Everything outside the volume is background. These are the points at which Nikolov et al.
// place surface elements ("Deep learning to achieve clinically applicable segmentation of head and
// neck anatomy", arXiv:1809.04430). The Vesuvius competition uses the library of that paper. That
// library weights each element by the area of a triangulation. Here, all points have equal weight.
// Other libraries take the foreground voxels that have a background neighbour as the surface. The
// centres of these voxels lie half a voxel further inside.
#pragma once

#include <cstdint>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The number of points of each surface, and how many of these are within the tolerance of the other
// surface. Counts of several volumes can be added.
struct SurfaceCounts {
  std::int64_t truth = 0;
  std::int64_t truth_near = 0;
  std::int64_t predicted = 0;
  std::int64_t predicted_near = 0;

  SurfaceCounts& operator+=(const SurfaceCounts& other);
  bool operator==(const SurfaceCounts&) const = default;
};

// Returns (truth_near + predicted_near) / (truth + predicted). The result is 1 if both masks are
// empty, and 0 if only one is.
double surface_dice(const SurfaceCounts& counts);

// Returns the points of the surface as a mask whose extents are larger by one along each axis.
// Point (z, y, x) is the corner between voxels z-1 and z, y-1 and y, x-1 and x.
Mask surface_points(const Mask& mask);

// Returns the points whose distance to one of `points` is at most `tolerance`. The comparison
// allows a relative error of 1e-6. Small tolerances are computed with shifted rows of bits, and
// large ones with squared_distances. Both methods are exact. Throws Error if the tolerance is
// negative or not finite, or if the spacing is invalid.
Mask within(const Mask& points, const Spacing& spacing, double tolerance);

// Returns the counts of two masks. The tolerance is in the unit of the spacing. If the spacing is
// {1, 1, 1}, the unit is a voxel. Throws Error as `within` does. Also throws Error if the shapes
// differ.
SurfaceCounts surface_counts(const Mask& truth, const Mask& predicted, const Spacing& spacing,
                             double tolerance);

}  // namespace lockstep::volume
