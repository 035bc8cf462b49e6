// Where a patch lies in its volume, and how it is turned: the geometry of one training sample.
#pragma once

#include "core/base/philox.h"
#include "recipes/volume/files/volume_header.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

using Triple = std::array<std::int64_t, 3>;  // z, y, x

// Voxel o of the patch is voxel origin + Σ step[axis] * o[axis] of the volume. Each step goes along
// one of the volume's axes, forwards or backwards.
struct Turned {
  Triple origin{};
  std::array<Triple, 3> step{};
};

struct TurnOptions {
  bool flip = true, rotate90 = true;
};

// Turns a box of `size` that begins at `corner` by draws of `random`. Quarter turns are drawn only
// if the patch is square in its plane.
Turned turned_box(const Triple& corner, const Triple& size, const TurnOptions& options,
                  Random& random);

// The corner of a box of `size` around `middle`, moved into [begin, end). If the volume is smaller
// than the box, the box extends beyond it equally on both sides.
Triple corner_around(const Triple& middle, const Triple& size, const Triple& begin,
                     const Triple& end);
// The corner of a box within [begin, end), drawn with equal probability.
Triple any_corner(const Triple& size, const Triple& begin, const Triple& end, Random& random);

struct WarpOptions {
  double rotate = 0;   // degrees around each axis
  double scale = 0;    // a share: sizes are from 1 - scale to 1 + scale
  double elastic = 0;  // voxels
  bool any() const { return rotate > 0 || scale > 0 || elastic > 0; }
};

// A smooth map from a patch's voxels to places in the volume, which are turned, scaled and bent
// about the middle of the box.
class Warp {
 public:
  Warp(const Turned& box, const Triple& size, const std::array<double, 3>& spacing,
       const WarpOptions& options, Random& random);
  // The places of voxels (z, y, 0 … width-1), in voxels of the volume: first all z, then all y,
  // then all x.
  void row(std::int64_t z, std::int64_t y, std::array<std::vector<float>, 3>& places) const;

 private:
  static constexpr std::size_t knots = 5;  // of the elastic deformation, along each axis
  // Where a voxel lies between the knots of an axis: after knot `low`, by this share of the
  // distance between knots.
  struct Between {
    std::size_t low = 0;
    double share = 0;
  };
  Between between_knots(std::size_t axis, std::int64_t voxel) const;
  // The shifts at the knots along x of row (z, y).
  std::array<std::array<double, 3>, knots> bend(std::int64_t z, std::int64_t y) const;

  Triple size_{};
  std::array<double, 3> first_{};                    // the place of voxel 0, without bending
  std::array<std::array<double, 3>, 3> per_step_{};  // [patch axis][volume axis]
  // shifts of the knots, in voxels; empty: no bending
  std::vector<std::array<float, 3>> shifts_;
};

}  // namespace lockstep::volume
