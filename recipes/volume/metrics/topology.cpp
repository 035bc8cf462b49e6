#include "recipes/volume/metrics/topology.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/metrics/components.h"

namespace lockstep::volume {
namespace {

using Words = std::span<const std::uint64_t>;

// The OR of two or four rows, voxel by voxel. A row outside the volume is treated as empty.
class AnyOf {
 public:
  void add(Words row) {
    if (words_.size() < row.size()) words_.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) words_[i] |= row[i];
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  Words words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

std::int64_t count(Words row) {
  std::int64_t sum = 0;
  for (const std::uint64_t word : row) sum += std::popcount(word);
  return sum;
}

// The number of positions between voxels of a row, with both ends, that touch a set voxel.
std::int64_t count_between(Words row) {
  std::int64_t sum = 0;
  std::uint64_t before = 0;
  for (const std::uint64_t word : row) {
    sum += std::popcount(word | word << 1 | before);
    before = word >> 63;
  }
  return sum + static_cast<std::int64_t>(before);
}

// Splits an axis into ranges [first, second).
std::vector<std::pair<std::int64_t, std::int64_t>> parts(std::int64_t extent, std::int64_t count) {
  count = std::min(count, extent);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t end = begin + extent / count + (i < extent % count ? 1 : 0);
    result.emplace_back(begin, end);
    begin = end;
  }
  return result;
}

TopologyCounts counts_of(const Mask& truth, const Mask& predicted) {
  TopologyCounts counts{.truth = betti_numbers(truth), .predicted = betti_numbers(predicted)};
  for (std::size_t i = 0; i < 3; ++i)
    counts.matched[i] = std::min(counts.truth[i], counts.predicted[i]);
  return counts;
}

std::int64_t cavities(const Mask& mask) {
  const Components background = components(mask.inverted(), Connectivity::faces_6);
  const auto [depth, height, width] = mask.shape();
  std::vector<bool> open(background.sizes.size());
  for (std::int64_t z = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      const bool border = z == 0 || z == depth - 1 || y == 0 || y == height - 1;
      for (const Run& run : background.row(z, y))
        if (border || run.begin == 0 || run.end == width)
          open[static_cast<std::size_t>(run.label) - 1] = true;
    }
  return std::count(open.begin(), open.end(), false);
}

}  // namespace

std::int64_t euler_number(const Mask& mask) {
  const auto [depth, height, width] = mask.shape();
  std::int64_t vertices = 0, edges = 0, faces = 0, cubes = 0;
  AnyOf around;  // rows that touch the edges of a row of corners
  AnyOf above;   // rows on both sides of a horizontal plane of corners
  AnyOf beside;  // rows on both sides of a vertical plane of corners
  for (std::int64_t z = 0; z <= depth; ++z)
    for (std::int64_t y = 0; y <= height; ++y) {
      around.clear();
      above.clear();
      beside.clear();
      for (const std::int64_t from_z : {z - 1, z})
        for (const std::int64_t from_y : {y - 1, y}) {
          if (from_z < 0 || from_z >= depth || from_y < 0 || from_y >= height) continue;
          const Words row = mask.row(from_z, from_y);
          around.add(row);
          if (from_y == y) above.add(row);
          if (from_z == z) beside.add(row);
          if (from_z == z && from_y == y) {
            cubes += count(row);
            faces += count_between(row);
          }
        }
      vertices += count_between(around.words());
      edges += count(around.words());
      edges += count_between(above.words()) + count_between(beside.words());
      faces += count(above.words()) + count(beside.words());
    }
  return vertices - edges + faces - cubes;
}

BettiNumbers betti_numbers(const Mask& mask) {
  const auto pieces =
      static_cast<std::int64_t>(components(mask, Connectivity::corners_26).sizes.size());
  const std::int64_t hollows = cavities(mask);
  return {pieces, pieces + hollows - euler_number(mask), hollows};
}

TopologyCounts& TopologyCounts::operator+=(const TopologyCounts& other) {
  for (std::size_t i = 0; i < 3; ++i) {
    truth[i] += other.truth[i];
    predicted[i] += other.predicted[i];
    matched[i] += other.matched[i];
  }
  return *this;
}

TopologyCounts topology_counts(const Mask& truth, const Mask& predicted, const Shape& tiles) {
  check_same_shape(truth, predicted);
  for (const std::int64_t count : tiles)
    if (count < 1)
      throw Error(cat(tiles[0], " x ", tiles[1], " x ", tiles[2], " tiles cannot be"),
                  "at least 1 along each axis");
  const Shape& shape = truth.shape();
  TopologyCounts sum;
  for (const auto& [z_begin, z_end] : parts(shape[0], tiles[0]))
    for (const auto& [y_begin, y_end] : parts(shape[1], tiles[1]))
      for (const auto& [x_begin, x_end] : parts(shape[2], tiles[2])) {
        const Shape begin{z_begin, y_begin, x_begin};
        const Shape end{z_end, y_end, x_end};
        sum += counts_of(truth.cropped(begin, end), predicted.cropped(begin, end));
      }
  return sum;
}

double topology_score(const TopologyCounts& counts, const std::array<double, 3>& weights) {
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t features = counts.truth[i] + counts.predicted[i];
    if (features == 0) continue;
    sum += weights[i] * 2 * static_cast<double>(counts.matched[i]) / static_cast<double>(features);
    weight += weights[i];
  }
  return weight == 0 ? 1 : sum / weight;
}

}  // namespace lockstep::volume
