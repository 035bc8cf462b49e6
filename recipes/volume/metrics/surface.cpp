#include "recipes/volume/metrics/surface.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/metrics/distance.h"

namespace lockstep::volume {
namespace {

constexpr double slack = 1 + 1e-6;        // lets three steps of 0.1 be within 0.3
constexpr std::size_t few_offsets = 200;  // with more, squared_distances was measured to be faster

// A row within the tolerance of another row. reach: the voxels along it that are within the
// tolerance.
struct RowOffset {
  std::int64_t z, y, reach;
};

std::int64_t steps_within(double distance, double size, std::int64_t most) {
  const double steps = distance / size;
  return steps >= static_cast<double>(most) ? most : static_cast<std::int64_t>(steps);
}

// The offsets, sorted by reach.
std::vector<RowOffset> row_offsets(const Shape& shape, const Spacing& spacing, double tolerance) {
  const double limit = tolerance * tolerance * slack * slack;
  const std::int64_t most_z = steps_within(tolerance * slack, spacing[0], shape[0] - 1);
  const std::int64_t most_y = steps_within(tolerance * slack, spacing[1], shape[1] - 1);
  std::vector<RowOffset> offsets;
  for (std::int64_t z = -most_z; z <= most_z; ++z)
    for (std::int64_t y = -most_y; y <= most_y; ++y) {
      const double in_z = static_cast<double>(z) * spacing[0];
      const double in_y = static_cast<double>(y) * spacing[1];
      const double left = limit - in_z * in_z - in_y * in_y;
      if (left >= 0) offsets.push_back({z, y, steps_within(std::sqrt(left), spacing[2], shape[2])});
    }
  std::sort(offsets.begin(), offsets.end(),
            [](const RowOffset& a, const RowOffset& b) { return a.reach < b.reach; });
  return offsets;
}

// Sets the bits next to set bits.
void widen(std::vector<std::uint64_t>& row) {
  std::uint64_t from_below = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint64_t word = row[i];
    const std::uint64_t above = i + 1 < row.size() ? row[i + 1] << 63 : 0;
    row[i] = word | word << 1 | word >> 1 | from_below | above;
    from_below = word >> 63;
  }
}

Mask dilated(const Mask& points, const std::vector<RowOffset>& offsets) {
  const auto [depth, height, width] = points.shape();
  Mask result(points.shape());
  std::vector<std::uint64_t> wide;
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const auto row = points.row(z, y);
      wide.assign(row.begin(), row.end());
      if (std::all_of(wide.begin(), wide.end(), [](std::uint64_t word) { return word == 0; }))
        continue;
      std::int64_t reached = 0;
      for (const RowOffset& offset : offsets) {
        for (; reached < offset.reach; ++reached) widen(wide);
        const std::int64_t to_z = z + offset.z;
        const std::int64_t to_y = y + offset.y;
        if (to_z < 0 || to_z >= depth || to_y < 0 || to_y >= height) continue;
        const auto to = result.row(to_z, to_y);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] |= wide[i];
      }
    }
  result.keep_where(Mask(points.shape()).inverted());  // clears bits beyond the width
  return result;
}

// Four rows of voxels around a row of corners, combined by OR and by AND.
struct CornerRows {
  std::vector<std::uint64_t> any, all;
};

void gather(const Mask& mask, std::int64_t z, std::int64_t y, CornerRows& rows) {
  rows.any.assign(rows.any.size(), 0);
  rows.all.assign(rows.all.size(), ~std::uint64_t{0});
  const auto [depth, height, width] = mask.shape();
  for (const std::int64_t from_z : {z - 1, z})
    for (const std::int64_t from_y : {y - 1, y}) {
      const bool inside = from_z >= 0 && from_z < depth && from_y >= 0 && from_y < height;
      if (!inside) {
        rows.all.assign(rows.all.size(), 0);
        continue;
      }
      const auto bits = mask.row(from_z, from_y);
      for (std::size_t i = 0; i < bits.size(); ++i) {
        rows.any[i] |= bits[i];
        rows.all[i] &= bits[i];
      }
      if (rows.all.size() > bits.size()) rows.all.back() = 0;
    }
}

}  // namespace

SurfaceCounts& SurfaceCounts::operator+=(const SurfaceCounts& other) {
  truth += other.truth;
  truth_near += other.truth_near;
  predicted += other.predicted;
  predicted_near += other.predicted_near;
  return *this;
}

double surface_dice(const SurfaceCounts& counts) {
  const std::int64_t points = counts.truth + counts.predicted;
  const std::int64_t near = counts.truth_near + counts.predicted_near;
  return points == 0 ? 1 : static_cast<double>(near) / static_cast<double>(points);
}

Mask surface_points(const Mask& mask) {
  const auto [depth, height, width] = mask.shape();
  Mask points({depth + 1, height + 1, width + 1});
  const auto words = static_cast<std::size_t>(points.words());
  CornerRows rows{std::vector<std::uint64_t>(words), std::vector<std::uint64_t>(words)};
  for (std::int64_t z = 0; z <= depth; ++z)
    for (std::int64_t y = 0; y <= height; ++y) {
      gather(mask, z, y, rows);
      const auto out = points.row(z, y);
      std::uint64_t any_before = 0;
      std::uint64_t all_before = 0;
      for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t any = rows.any[i] | rows.any[i] << 1 | any_before;
        const std::uint64_t all = rows.all[i] & (rows.all[i] << 1 | all_before);
        out[i] = any & ~all;
        any_before = rows.any[i] >> 63;
        all_before = rows.all[i] >> 63;
      }
    }
  return points;
}

Mask within(const Mask& points, const Spacing& spacing, double tolerance) {
  check_spacing(spacing);
  if (!std::isfinite(tolerance) || tolerance < 0)
    throw Error(cat("a tolerance of ", tolerance, " cannot be"),
                "it is a distance in the unit of the spacing, e.g. 2");
  const std::vector<RowOffset> offsets = row_offsets(points.shape(), spacing, tolerance);
  if (offsets.size() <= few_offsets) return dilated(points, offsets);
  const std::vector<float> distances = squared_distances(points, spacing, tolerance * slack);
  return Mask::where(points.shape(), [&](std::size_t i) { return std::isfinite(distances[i]); });
}

SurfaceCounts surface_counts(const Mask& truth, const Mask& predicted, const Spacing& spacing,
                             double tolerance) {
  check_same_shape(truth, predicted);
  const Mask truth_points = surface_points(truth);
  const Mask predicted_points = surface_points(predicted);
  SurfaceCounts counts{.truth = truth_points.count(), .predicted = predicted_points.count()};
  Mask near = within(predicted_points, spacing, tolerance);
  near.keep_where(truth_points);
  counts.truth_near = near.count();
  near = within(truth_points, spacing, tolerance);
  near.keep_where(predicted_points);
  counts.predicted_near = near.count();
  return counts;
}

}  // namespace lockstep::volume
