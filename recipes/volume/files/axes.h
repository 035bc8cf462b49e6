// Turns a volume onto the grid of another NIfTI file. The grids may differ in the order and
// direction of their axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// How to turn a volume: axis i (z, y, x) of the result is axis source[i] of the volume. The axis is
// reversed if flipped[i].
struct AxisMap {
  std::array<std::size_t, 3> source{0, 1, 2};
  std::array<bool, 3> flipped{};
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

// Returns how to turn `other` so that its voxels lie where the voxels of `wanted` lie
// (corners_agree). Returns nothing if there is no such turn. If one of the headers states no place
// (has_place), only the extents are compared. If they are equal, `other` stays as it is, else
// nothing is returned.
std::optional<AxisMap> axes_onto(const VolumeHeader& wanted, const VolumeHeader& other);

// Returns the values of the turned volume. values: u8 [D, H, W]. shape: their extents.
std::vector<std::uint8_t> turned(std::span<const std::uint8_t> values, const VolumeShape& shape,
                                 const AxisMap& map);

}  // namespace lockstep::volume
