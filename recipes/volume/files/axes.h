// Permutes and flips the axes of a volume, so that its voxels have the order of those in another
// NIfTI file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// A permutation and flips of axes. Axis i (z, y, x) of the result is axis source[i] of the volume.
// It is reversed if flipped[i] is true.
struct AxisMap {
  std::array<std::size_t, 3> source{0, 1, 2};
  std::array<bool, 3> flipped{};
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

// Returns the map after which the voxels of `other` lie where the voxels of `wanted` lie
// (corners_agree). Returns no value if there is no such map. If one of the headers does not state
// where its voxels lie (has_place), only the extents are compared. If they are equal, the result is
// the identity. If not, there is no value.
std::optional<AxisMap> axes_onto(const VolumeHeader& wanted, const VolumeHeader& other);

// Returns the values in their new order. values: u8 [D, H, W]. shape: the extents of `values`.
std::vector<std::uint8_t> turned(std::span<const std::uint8_t> values, const VolumeShape& shape,
                                 const AxisMap& map);

}  // namespace lockstep::volume
