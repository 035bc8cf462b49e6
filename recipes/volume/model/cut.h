// Computes the voxels of a patch from those of its volume: of a turned box, or by interpolation
// between voxels.
#pragma once

#include "recipes/volume/model/placement.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

// One channel [D, H, W], or labels. T: u8, u16 or f32.
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

// Copies a box to out [size]; voxels beyond the volume become `outside`. To is From or f32.
template <class From, class To>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside,
                 To* out);

// A row of places, and for each place the voxels around it.
struct PlaceRow {
  std::array<std::vector<float>, 3> places;      // z, y, x in voxels: Warp::row
  std::array<std::vector<std::int32_t>, 3> low;  // the voxel at the place, or before it
  std::array<std::vector<float>, 3> share;       // distance from that voxel to the place: [0, 1)
  // whether all eight voxels around it are in the volume
  std::vector<std::uint8_t> inside;

  // Fills all members except `places`, for a volume's extents and its planes [begin, end).
  void locate(const Triple& extents, std::int64_t begin, std::int64_t end);
};

// Interpolates trilinearly between the eight voxels around each place. Voxels beyond the volume
// count as 0. Rounds if To is u8. The row must be located in a volume of that shape.
template <class From, class To>
void interpolate(const Grid<From>& from, const PlaceRow& row, To* out);

// Takes the voxel nearest to each place.
void take_nearest(const Grid<std::uint8_t>& from, const PlaceRow& row, std::uint8_t outside,
                  std::uint8_t* out);

}  // namespace lockstep::volume
