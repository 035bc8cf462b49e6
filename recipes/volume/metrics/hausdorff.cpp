#include "recipes/volume/metrics/hausdorff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "recipes/volume/metrics/distance.h"

namespace lockstep::volume {
namespace {

constexpr double percentile = 0.95;

struct Box {
  Shape begin{}, end{};
};

// The smallest box with all set voxels of both masks.
Box box_around(const Mask& a, const Mask& b) {
  Box box{.begin = a.shape(), .end = {}};
  for (const Mask* const mask : {&a, &b})
    for (std::int64_t z = 0; z < a.shape()[0]; ++z)
      for (std::int64_t y = 0; y < a.shape()[1]; ++y) {
        const auto row = mask->row(z, y);
        std::int64_t first = -1, last = -1;
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (row[i] == 0) continue;
          const auto word = static_cast<std::int64_t>(i) * 64;
          if (first < 0) first = word + std::countr_zero(row[i]);
          last = word + 63 - std::countl_zero(row[i]);
        }
        if (first < 0) continue;
        box.begin = {std::min(box.begin[0], z), std::min(box.begin[1], y),
                     std::min(box.begin[2], first)};
        box.end = {std::max(box.end[0], z + 1), std::max(box.end[1], y + 1),
                   std::max(box.end[2], last + 1)};
      }
  return box;
}

// Adds the distance of each set voxel of `from` to the nearest set voxel of `to`.
void add_distances(const Mask& from, const Mask& to, const Spacing& spacing,
                   std::vector<double>& distances) {
  const std::vector<float> squared = squared_distances(to, spacing);
  const auto [depth, height, width] = from.shape();
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const auto row = from.row(z, y);
      const float* const values = squared.data() + (z * height + y) * width;
      for (std::size_t i = 0; i < row.size(); ++i)
        for (std::uint64_t left = row[i]; left != 0; left &= left - 1) {
          const auto x = static_cast<std::int64_t>(i) * 64 + std::countr_zero(left);
          distances.push_back(std::sqrt(static_cast<double>(values[x])));
        }
    }
}

// The same as numpy.percentile by default. Reorders the values, and there must be at least one.
double value_at(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(std::floor(place));
  std::nth_element(values.begin(), below, values.end());
  const double part = place - std::floor(place);
  if (part == 0 || below + 1 == values.end()) return *below;
  return *below + part * (*std::min_element(below + 1, values.end()) - *below);
}

}  // namespace

Mask surface_voxels(const Mask& mask) {
  const auto [depth, height, width] = mask.shape();
  Mask surface(mask.shape());
  const std::vector<std::uint64_t> none(static_cast<std::size_t>(mask.words()));
  const auto row_of = [&](std::int64_t z, std::int64_t y) -> std::span<const std::uint64_t> {
    if (z < 0 || y < 0 || z >= depth || y >= height) return none;
    return mask.row(z, y);
  };
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const auto row = row_of(z, y), above = row_of(z, y - 1), below = row_of(z, y + 1),
                 before = row_of(z - 1, y), behind = row_of(z + 1, y);
      const auto out = surface.row(z, y);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::uint64_t from_left = i == 0 ? 0 : row[i - 1] >> 63;
        const std::uint64_t from_right = i + 1 == row.size() ? 0 : row[i + 1] << 63;
        const std::uint64_t inside = above[i] & below[i] & before[i] & behind[i] &
                                     (row[i] << 1 | from_left) & (row[i] >> 1 | from_right);
        out[i] = row[i] & ~inside;
      }
    }
  return surface;
}

std::optional<double> hausdorff_95(const Mask& truth, const Mask& predicted,
                                   const Spacing& spacing) {
  check_same_shape(truth, predicted);
  check_spacing(spacing);
  if (truth.count() == 0 || predicted.count() == 0) return std::nullopt;
  const Box box = box_around(truth, predicted);
  const Mask a = surface_voxels(truth.cropped(box.begin, box.end));
  const Mask b = surface_voxels(predicted.cropped(box.begin, box.end));
  std::vector<double> distances;
  add_distances(a, b, spacing, distances);
  add_distances(b, a, spacing, distances);
  return value_at(distances, percentile);
}

}  // namespace lockstep::volume
