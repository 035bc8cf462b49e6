#include "recipes/volume/metrics/components.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

// The first position at or after `x` whose bit equals `value`, or the width.
std::int64_t next_bit(std::span<const std::uint64_t> bits, std::int64_t x, std::int64_t width,
                      bool value) {
  while (x < width) {
    const std::uint64_t word = bits[static_cast<std::size_t>(x / 64)];
    const std::uint64_t wanted = (value ? word : ~word) >> (x % 64);
    if (wanted != 0) return std::min(width, x + std::countr_zero(wanted));
    x = (x / 64 + 1) * 64;
  }
  return width;
}

void find_runs(const Mask& mask, Components& result) {
  const auto [depth, height, width] = mask.shape();
  result.row_begin.reserve(static_cast<std::size_t>(depth * height + 1));
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      result.row_begin.push_back(static_cast<std::uint32_t>(result.runs.size()));
      const auto bits = mask.row(z, y);
      for (std::int64_t x = next_bit(bits, 0, width, true); x < width;) {
        const std::int64_t end = next_bit(bits, x, width, false);
        result.runs.push_back({static_cast<std::int32_t>(x), static_cast<std::int32_t>(end)});
        x = next_bit(bits, end, width, true);
      }
      if (result.runs.size() > std::numeric_limits<std::int32_t>::max())
        throw Error("the volume has more than 2147483647 runs of foreground",
                    "score it in parts, or smooth it");
    }
  result.row_begin.push_back(static_cast<std::uint32_t>(result.runs.size()));
}

// Disjoint sets of runs (union-find). Each set is represented by its first run.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    for (std::size_t i = 0; i < count; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a < b) parent_[b] = a;
    if (b < a) parent_[a] = b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

// Joins runs that touch in two rows. With `reach` 1, runs that meet only at a corner are joined
// too.
void join_rows(const Components& found, std::int64_t row, std::int64_t other, std::int32_t reach,
               Sets& sets) {
  std::uint32_t a = found.row_begin[static_cast<std::size_t>(row)];
  std::uint32_t b = found.row_begin[static_cast<std::size_t>(other)];
  const std::uint32_t a_end = found.row_begin[static_cast<std::size_t>(row) + 1];
  const std::uint32_t b_end = found.row_begin[static_cast<std::size_t>(other) + 1];
  while (a < a_end && b < b_end) {
    const Run& one = found.runs[a];
    const Run& two = found.runs[b];
    if (one.begin < two.end + reach && two.begin < one.end + reach) sets.join(a, b);
    if (one.end < two.end)
      ++a;
    else
      ++b;
  }
}

void join_all(const Components& found, Connectivity connectivity, Sets& sets) {
  const auto [depth, height, width] = found.shape;
  const bool corners = connectivity == Connectivity::corners_26;
  const std::int32_t reach = corners ? 1 : 0;
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const std::int64_t row = z * height + y;
      if (y > 0) join_rows(found, row, row - 1, reach, sets);
      if (z == 0) continue;
      join_rows(found, row, row - height, reach, sets);
      if (corners && y > 0) join_rows(found, row, row - height - 1, reach, sets);
      if (corners && y + 1 < height) join_rows(found, row, row - height + 1, reach, sets);
    }
}

}  // namespace

std::span<const Run> Components::row(std::int64_t z, std::int64_t y) const {
  const auto index = static_cast<std::size_t>(z * shape[1] + y);
  return {runs.data() + row_begin[index], runs.data() + row_begin[index + 1]};
}

Components components(const Mask& mask, Connectivity connectivity) {
  Components result;
  result.shape = mask.shape();
  find_runs(mask, result);
  Sets sets(result.runs.size());
  join_all(result, connectivity, sets);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    Run& run = result.runs[i];
    const std::uint32_t first = sets.find(static_cast<std::uint32_t>(i));
    if (first == i) result.sizes.push_back(0);
    run.label =
        first == i ? static_cast<std::int32_t>(result.sizes.size()) : result.runs[first].label;
    result.sizes[static_cast<std::size_t>(run.label) - 1] += run.end - run.begin;
  }
  return result;
}

std::vector<std::int32_t> dense_labels(const Components& components) {
  const auto [depth, height, width] = components.shape;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(depth * height * width));
  for (std::int64_t row = 0; row < depth * height; ++row)
    for (const Run& run : components.row(row / height, row % height))
      for (std::int64_t x = run.begin; x < run.end; ++x)
        labels[static_cast<std::size_t>(row * width + x)] = run.label;
  return labels;
}

std::int64_t remove_small_components(Mask& mask, std::int64_t min_voxels,
                                     Connectivity connectivity) {
  const Components found = components(mask, connectivity);
  const auto [depth, height, width] = mask.shape();
  Mask kept(mask.shape());
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y)
      for (const Run& run : found.row(z, y))
        if (found.sizes[static_cast<std::size_t>(run.label) - 1] >= min_voxels)
          kept.set_run(z, y, run.begin, run.end);
  mask = std::move(kept);
  std::int64_t removed = 0;
  for (const std::int64_t size : found.sizes) removed += size < min_voxels;
  return removed;
}

std::int64_t remove_small_components(std::span<std::uint8_t> labels, const Shape& shape,
                                     std::uint8_t of_class, std::int64_t min_voxels,
                                     Connectivity connectivity, std::uint8_t background) {
  check_shape("the labels", shape, labels.size());
  const auto is_class = [&](std::size_t i) { return labels[i] == of_class; };
  const Components found = components(Mask::where(shape, is_class), connectivity);
  const std::int64_t rows = shape[0] * shape[1];
  for (std::int64_t row = 0; row < rows; ++row)
    for (const Run& run : found.row(row / shape[1], row % shape[1]))
      if (found.sizes[static_cast<std::size_t>(run.label) - 1] < min_voxels)
        for (std::int64_t x = run.begin; x < run.end; ++x)
          labels[static_cast<std::size_t>(row * shape[2] + x)] = background;
  std::int64_t removed = 0;
  for (const std::int64_t size : found.sizes) removed += size < min_voxels;
  return removed;
}

}  // namespace lockstep::volume
