// Voxels of a patch from those of its volume: a box that is turned, or places between voxels.
#pragma once

#include "recipes/volume/model/placement.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

// [D, H, W] of one channel, or labels. T: u8, u16 or f32.
template <class T>
struct Grid {
  const T* values = nullptr;
  Triple extents{};
  std::int64_t begin = 0, end = 0;  // planes that are used
  bool has(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z >= begin && z < end && y >= 0 && y < extents[1] && x >= 0 && x < extents[2];
  }
  std::int64_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }
};

// Copies a box to out [size]; voxels beyond the volume get `outside`. To is From or f32.
template <class From, class To>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside,
                 To* out);

// A row of places, and which voxels are around each.
struct PlaceRow {
  std::array<std::vector<float>, 3> places;      // z, y, x in voxels: Warp::row
  std::array<std::vector<std::int32_t>, 3> low;  // the voxel at or before the place
  std::array<std::vector<float>, 3> share;       // by which the place lies behind it: [0, 1)
  std::vector<std::uint8_t> inside;              // whether the volume has all eight around it

  // Fills all but places, for a volume's extents and its planes [begin, end).
  void locate(const Triple& extents, std::int64_t begin, std::int64_t end);
};

// Trilinear between the eight voxels around each place, those beyond the volume being 0; rounded
// if To is u8. The row must be located in a volume of that shape.
template <class From, class To>
void interpolate(const Grid<From>& from, const PlaceRow& row, To* out);

// The voxel nearest to each place.
void take_nearest(const Grid<std::uint8_t>& from, const PlaceRow& row, std::uint8_t outside,
                  std::uint8_t* out);

}  // namespace lockstep::volume
