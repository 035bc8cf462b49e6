#include "recipes/volume/files/axes.h"

#include <algorithm>

#include "recipes/volume/files/same_place.h"

namespace lockstep::volume {
namespace {

using Extents3 = std::array<std::int64_t, 3>;

Extents3 zyx_of(const VolumeShape& shape) { return {shape.depth, shape.height, shape.width}; }

// The column of an axis. Columns of an affine are x, y, z; axes here are z, y, x.
std::size_t column_of(std::size_t axis) { return 2 - axis; }

PlaceAffine turned_affine(const PlaceAffine& affine, const Extents3& extents, const AxisMap& map) {
  PlaceAffine result = affine;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double step = affine[row][column_of(map.source[axis])];
      result[row][column_of(axis)] = map.flipped[axis] ? -step : step;
      if (map.flipped[axis])
        result[row][3] += step * static_cast<double>(extents[map.source[axis]] - 1);
    }
  return result;
}

}  // namespace

std::optional<AxisMap> axes_onto(const VolumeHeader& wanted, const VolumeHeader& other) {
  const Extents3 to = zyx_of(wanted.shape), from = zyx_of(other.shape);
  if (!has_place(wanted) || !has_place(other))
    return to == from ? std::optional(AxisMap()) : std::nullopt;
  const PlaceAffine of_wanted = affine_of(wanted), of_other = affine_of(other);
  AxisMap map;
  do {
    for (unsigned flips = 0; flips < 8; ++flips) {
      for (std::size_t axis = 0; axis < 3; ++axis) map.flipped[axis] = (flips >> axis & 1U) != 0;
      const bool fits = from[map.source[0]] == to[0] && from[map.source[1]] == to[1] &&
                        from[map.source[2]] == to[2];
      if (fits && corners_agree(of_wanted, turned_affine(of_other, from, map), wanted.shape))
        return map;
    }
  } while (std::next_permutation(map.source.begin(), map.source.end()));
  return std::nullopt;
}

std::vector<std::uint8_t> turned(std::span<const std::uint8_t> values, const VolumeShape& shape,
                                 const AxisMap& map) {
  const Extents3 from = zyx_of(shape), strides{from[1] * from[2], from[2], 1};
  Extents3 extents{}, step{};
  std::int64_t origin = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extents[axis] = from[map.source[axis]];
    step[axis] = strides[map.source[axis]] * (map.flipped[axis] ? -1 : 1);
    if (map.flipped[axis]) origin -= step[axis] * (extents[axis] - 1);
  }
  std::vector<std::uint8_t> result(values.size());
  auto out = result.begin();
  for (std::int64_t z = 0; z < extents[0]; ++z)
    for (std::int64_t y = 0; y < extents[1]; ++y)
      for (std::int64_t x = 0; x < extents[2]; ++x)
        *out++ = values[static_cast<std::size_t>(origin + z * step[0] + y * step[1] + x * step[2])];
  return result;
}

}  // namespace lockstep::volume
