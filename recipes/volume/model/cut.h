// Computes the voxels of a patch from the voxels of its volume. A patch is either a turned box of
// voxels, or interpolated between voxels.
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
  std::int64_t begin = 0, end = 0;  // the planes that may be used
  bool has(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z >= begin && z < end && y >= 0 && y < extents[1] && x >= 0 && x < extents[2];
  }
  std::int64_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }
};

// Copies a turned box to out [size]. Voxels beyond the volume become `outside`. To is From or f32.
template <class From, class To>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside,
                 To* out);

// A row of places between voxels, and for each place the voxels around it.
struct PlaceRow {
  std::array<std::vector<float>, 3> places;      // z, y, x in voxels, from Warp::row
  std::array<std::vector<std::int32_t>, 3> low;  // index of the voxel at or before the place
  std::array<std::vector<float>, 3> share;       // distance from that voxel, in [0, 1)
  // whether all eight voxels around the place are in the volume
  std::vector<std::uint8_t> inside;

  // Computes all members from `places`. extents: the extents of the volume. [begin, end): the
  // planes that may be used.
  void locate(const Triple& extents, std::int64_t begin, std::int64_t end);
};

// Interpolates trilinearly between the eight voxels around each place. Voxels beyond the volume are
// taken as 0. Rounds the result if To is u8. Call row.locate() first, with the extents of `from`.
template <class From, class To>
void interpolate(const Grid<From>& from, const PlaceRow& row, To* out);

// Takes the voxel nearest to each place. Voxels beyond the volume become `outside`.
void take_nearest(const Grid<std::uint8_t>& from, const PlaceRow& row, std::uint8_t outside,
                  std::uint8_t* out);

}  // namespace lockstep::volume
