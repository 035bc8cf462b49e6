// The geometry of a training sample: where a patch lies in its volume, and how it is flipped and
// rotated.
#pragma once

#include "core/base/philox.h"
#include "recipes/volume/files/volume_header.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

using Triple = std::array<std::int64_t, 3>;  // z, y, x

// Maps voxel o of a patch to voxel origin + Σ step[axis] * o[axis] of the volume. Each step is 1 or
// -1 along one axis of the volume.
struct Turned {
  Triple origin{};
  std::array<Triple, 3> step{};
};

struct TurnOptions {
  bool flip = true, rotate90 = true;
};

// Flips and rotates a box at random. The box has the extents `size` and begins at `corner`. flip:
// each axis is flipped with probability 1/2. rotate90: the box is rotated about z by a random
// multiple of 90 degrees. If its height and width differ, the angle is 0 or 180 degrees.
Turned turned_box(const Triple& corner, const Triple& size, const TurnOptions& options,
                  Random& random);

// Returns the corner of a box of `size` around `middle`. The box is moved so that it lies within
// [begin, end). Along an axis where the box is longer than this range, it extends beyond both ends
// equally.
Triple corner_around(const Triple& middle, const Triple& size, const Triple& begin,
                     const Triple& end);
// Returns the corner of a random box within [begin, end). All corners have equal probability. Along
// an axis where the box is longer than this range, it extends beyond both ends equally.
Triple any_corner(const Triple& size, const Triple& begin, const Triple& end, Random& random);

struct WarpOptions {
  double rotate = 0;  // largest angle around each axis, in degrees
  double scale = 0;   // sizes are multiplied by a factor in [1 - scale, 1 + scale]
  // The largest shift of a knot along each axis, in voxels. Knots are the points of a coarse grid,
  // and voxels between them shift smoothly.
  double elastic = 0;
  bool any() const { return rotate > 0 || scale > 0 || elastic > 0; }
};

// A random smooth map from the voxels of a patch to points in the volume. It rotates and scales the
// box about its middle, and then deforms it elastically.
class Warp {
 public:
  Warp(const Turned& box, const Triple& size, const std::array<double, 3>& spacing,
       const WarpOptions& options, Random& random);
  // Writes to `places` where voxels (z, y, 0 … width-1) of the patch lie in the volume, in voxels.
  // places[0] gets their z, places[1] their y, and places[2] their x.
  void row(std::int64_t z, std::int64_t y, std::array<std::vector<float>, 3>& places) const;

 private:
  static constexpr std::size_t knots = 5;  // number of knots along each axis
  // The position of a voxel between the knots of an axis. It lies after knot `low`, by `share` of
  // the distance to the next knot.
  struct Between {
    std::size_t low = 0;
    double share = 0;
  };
  Between between_knots(std::size_t axis, std::int64_t voxel) const;
  // Returns the shifts of the knots along x, interpolated along z and y for row (z, y).
  std::array<std::array<double, 3>, knots> bend(std::int64_t z, std::int64_t y) const;

  Triple size_{};
  std::array<double, 3> first_{};                    // where voxel 0 lies, without deformation
  std::array<std::array<double, 3>, 3> per_step_{};  // [patch axis][volume axis]
  // shifts of the knots, in voxels; empty if there is no deformation
  std::vector<std::array<float, 3>> shifts_;
};

}  // namespace lockstep::volume
