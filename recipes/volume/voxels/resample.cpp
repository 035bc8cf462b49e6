// Resamples volumes to other extents.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/base/check.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {
namespace {

// The source of each voxel along an axis: two neighbours, and the weight of the second one.
struct Axis {
  std::vector<std::int64_t> first, second;
  std::vector<float> share;
};

double source_of(std::int64_t i, std::int64_t from, std::int64_t to) {
  const double at =
      (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
  return std::clamp(at, 0.0, static_cast<double>(from - 1));
}

Axis axis_of(std::int64_t from, std::int64_t to) {
  Axis axis;
  for (std::int64_t i = 0; i < to; ++i) {
    const double at = source_of(i, from, to);
    const auto first = static_cast<std::int64_t>(at);
    axis.first.push_back(first);
    axis.second.push_back(std::min(first + 1, from - 1));
    axis.share.push_back(static_cast<float>(at - static_cast<double>(first)));
  }
  return axis;
}

template <class Voxel>
Voxel rounded(float value) {
  if constexpr (std::is_floating_point_v<Voxel>) return value;
  const float up = value + 0.5F;  // values are not negative
  return static_cast<Voxel>(up);
}

// Interpolates an output row between the four nearest rows of a channel.
template <class Voxel>
void resample_row(const std::array<const Voxel*, 4>& rows, float z_share, float y_share,
                  const Axis& x_axis, Voxel* out) {
  const auto along_yz = [&](std::int64_t x) {
    const auto mix = [](float a, float b, float share) { return a + (b - a) * share; };
    const auto value = [&](std::size_t row) { return static_cast<float>(rows[row][x]); };
    return mix(mix(value(0), value(1), y_share), mix(value(2), value(3), y_share), z_share);
  };
  for (std::size_t x = 0; x < x_axis.first.size(); ++x) {
    const float a = along_yz(x_axis.first[x]), b = along_yz(x_axis.second[x]);
    out[x] = rounded<Voxel>(a + (b - a) * x_axis.share[x]);
  }
}

template <class Voxel>
void resample_values(const Voxels& voxels, Voxels& result) {
  const VolumeShape &from = voxels.shape, &to = result.shape;
  const Axis z_axis = axis_of(from.depth, to.depth), y_axis = axis_of(from.height, to.height),
             x_axis = axis_of(from.width, to.width);
  const auto* const in = reinterpret_cast<const Voxel*>(voxels.values.data());
  auto* out = reinterpret_cast<Voxel*>(result.values.data());
  for (std::int64_t channel = 0; channel < to.channels; ++channel)
    for (std::size_t z = 0; z < z_axis.first.size(); ++z)
      for (std::size_t y = 0; y < y_axis.first.size(); ++y, out += to.width) {
        const auto row = [&](std::int64_t plane, std::int64_t line) {
          return in + ((channel * from.depth + plane) * from.height + line) * from.width;
        };
        resample_row<Voxel>(
            {row(z_axis.first[z], y_axis.first[y]), row(z_axis.first[z], y_axis.second[y]),
             row(z_axis.second[z], y_axis.first[y]), row(z_axis.second[z], y_axis.second[y])},
            z_axis.share[z], y_axis.share[y], x_axis, out);
      }
}

std::vector<std::int64_t> nearest_of(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < to; ++i) places.push_back(std::llround(source_of(i, from, to)));
  return places;
}

}  // namespace

VolumeShape resampled_shape(const VolumeShape& shape, const std::array<double, 3>& from,
                            const std::array<double, 3>& to) {
  const auto extent = [](std::int64_t voxels, double old, double wanted) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(voxels) * old / wanted));
  };
  return {.depth = extent(shape.depth, from[0], to[0]),
          .height = extent(shape.height, from[1], to[1]),
          .width = extent(shape.width, from[2], to[2]),
          .channels = shape.channels};
}

Voxels resample(const Voxels& voxels, const VolumeShape& shape) {
  LOCKSTEP_CHECK(shape.channels == voxels.shape.channels);
  if (shape == voxels.shape) return voxels;
  Voxels result{.shape = shape, .type = voxels.type, .source = voxels.source};
  result.values.resize(
      static_cast<std::size_t>(shape.channels * shape.depth * shape.height * shape.width) *
      bytes_of(voxels.type));
  switch (voxels.type) {
    case VoxelType::u8:
      resample_values<std::uint8_t>(voxels, result);
      break;
    case VoxelType::u16:
      resample_values<std::uint16_t>(voxels, result);
      break;
    default:
      resample_values<float>(voxels, result);
  }
  return result;
}

std::vector<std::uint8_t> resample_labels(std::span<const std::uint8_t> labels,
                                          const VolumeShape& from, const VolumeShape& shape) {
  LOCKSTEP_CHECK(labels.size() == static_cast<std::size_t>(from.depth * from.height * from.width));
  const auto zs = nearest_of(from.depth, shape.depth), ys = nearest_of(from.height, shape.height),
             xs = nearest_of(from.width, shape.width);
  std::vector<std::uint8_t> result;
  result.reserve(zs.size() * ys.size() * xs.size());
  for (const std::int64_t z : zs)
    for (const std::int64_t y : ys) {
      const std::uint8_t* const row = labels.data() + (z * from.height + y) * from.width;
      for (const std::int64_t x : xs) result.push_back(row[x]);
    }
  return result;
}

}  // namespace lockstep::volume
