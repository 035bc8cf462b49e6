// Computes the voxels of a patch from the voxels of its volume. A patch is either a flipped or
// rotated box of voxels, which are copied, or it is interpolated between voxels.
#pragma once

#include "recipes/volume/model/placement.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

// One channel of a volume, or its labels: [D, H, W]. T is u8, u16 or f32.
template <class T>
struct Grid {
  const T* values = nullptr;
  Triple extents{};
  std::int64_t begin = 0, end = 0;  // the planes [begin, end) may be used
  bool has(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z >= begin && z < end && y >= 0 && y < extents[1] && x >= 0 && x < extents[2];
  }
  std::int64_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }
};

// Copies a box that may be flipped and rotated (Turned) to `out`, whose shape is `size`. Voxels
// outside the planes and the extents of `from` become `outside`. The type To is From or f32.
template <class From, class To>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside,
                 To* out);

// The points of a volume from which one row of a patch is computed, and the voxels around each
// point.
struct PlaceRow {
  std::array<std::vector<float>, 3> places;      // z, y, x in voxels, from Warp::row
  std::array<std::vector<std::int32_t>, 3> low;  // index of the voxel at or before the point
  std::array<std::vector<float>, 3> share;       // distance of the point from that voxel, in [0, 1)
  // whether all eight voxels around the point may be used
  std::vector<std::uint8_t> inside;

  // Computes all other members from `places`. extents: the extents of the volume. [begin, end): the
  // planes that may be used.
  void locate(const Triple& extents, std::int64_t begin, std::int64_t end);
};

// Interpolates trilinearly between the eight voxels around each point. Voxels outside the planes
// and the extents of `from` count as 0. Rounds the result if To is u8. Call row.locate() first,
// with the extents and planes of `from`.
template <class From, class To>
void interpolate(const Grid<From>& from, const PlaceRow& row, To* out);

// Copies the voxel nearest to each point. Voxels outside the planes and the extents of `from`
// become `outside`. Call row.locate() first.
void take_nearest(const Grid<std::uint8_t>& from, const PlaceRow& row, std::uint8_t outside,
                  std::uint8_t* out);

}  // namespace lockstep::volume
