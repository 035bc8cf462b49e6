// The geometry of a training sample: where a patch lies in its volume, and how it is turned.
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

// Turns a box of `size` that begins at `corner` at random. flip: each axis is flipped with
// probability 1/2. rotate90: the box is turned about z by a multiple of 90 degrees. If its height
// and width differ, the angle is 0 or 180 degrees.
Turned turned_box(const Triple& corner, const Triple& size, const TurnOptions& options,
                  Random& random);

// Returns the corner of a box of `size` around `middle`. The box is moved to lie within [begin,
// end). Along axes on which it does not fit, the box extends beyond both sides equally.
Triple corner_around(const Triple& middle, const Triple& size, const Triple& begin,
                     const Triple& end);
// Returns the corner of a random box within [begin, end). All corners have equal probability. Along
// axes on which the box does not fit, it extends beyond both sides equally.
Triple any_corner(const Triple& size, const Triple& begin, const Triple& end, Random& random);

struct WarpOptions {
  double rotate = 0;   // largest angle around each axis, in degrees
  double scale = 0;    // sizes are multiplied by 1 - scale to 1 + scale
  double elastic = 0;  // largest shift of a knot along each axis, in voxels
  bool any() const { return rotate > 0 || scale > 0 || elastic > 0; }
};

// A random smooth map from the voxels of a patch to places in the volume. It turns and scales the
// box about its middle, and then deforms it elastically.
class Warp {
 public:
  Warp(const Turned& box, const Triple& size, const std::array<double, 3>& spacing,
       const WarpOptions& options, Random& random);
  // Returns the places of voxels (z, y, 0 … width-1) of the patch, in voxels of the volume.
  // places[0] holds their z, places[1] their y, and places[2] their x.
  void row(std::int64_t z, std::int64_t y, std::array<std::vector<float>, 3>& places) const;

 private:
  static constexpr std::size_t knots = 5;  // of the deformation, along each axis
  // The place of a voxel between the knots of an axis: after knot `low`, by `share` of the distance
  // to the next knot.
  struct Between {
    std::size_t low = 0;
    double share = 0;
  };
  Between between_knots(std::size_t axis, std::int64_t voxel) const;
  // Returns the shifts at the knots along x for row (z, y).
  std::array<std::array<double, 3>, knots> bend(std::int64_t z, std::int64_t y) const;

  Triple size_{};
  std::array<double, 3> first_{};                    // the place of voxel 0, without deformation
  std::array<std::array<double, 3>, 3> per_step_{};  // [patch axis][volume axis]
  // shifts of the knots, in voxels; empty if there is no deformation
  std::vector<std::array<float, 3>> shifts_;
};

}  // namespace lockstep::volume
