// Compares two grids of NIfTI files that differ only in the order and direction of their axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// Axis i (z, y, x) of one grid is axis source[i] of another grid, reversed if flipped[i].
struct AxisMap {
  std::array<std::size_t, 3> source{0, 1, 2};
  std::array<bool, 3> flipped{};
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

// How to turn `other` so that its voxels lie where those of `wanted` do (corners_agree). Nothing if
// no turn achieves that. If one of them has no place, `other` stays as it is, provided that the
// extents agree.
std::optional<AxisMap> axes_onto(const VolumeHeader& wanted, const VolumeHeader& other);

// values: u8 [D, H, W], of extents `shape`. Returns the values of the turned grid.
std::vector<std::uint8_t> turned(std::span<const std::uint8_t> values, const VolumeShape& shape,
                                 const AxisMap& map);

}  // namespace lockstep::volume
