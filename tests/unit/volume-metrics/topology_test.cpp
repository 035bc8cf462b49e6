#include "recipes/volume/metrics/topology.h"

#include <algorithm>

#include "core/base/error.h"
#include "tests/unit/volume-metrics/brute_force.h"

namespace lockstep::volume {
namespace {

// A square ring in the plane z = 1.
Mask ring(const Shape& shape) {
  return draw(shape, [](std::int64_t z, std::int64_t y, std::int64_t x) {
    const bool square = y >= 1 && y < 4 && x >= 1 && x < 4;
    return z == 1 && square && !(y == 2 && x == 2);
  });
}

Mask without(Mask mask, std::int64_t from, std::int64_t to) {
  mask.keep_where(box(mask.shape(), from, to).inverted());
  return mask;
}

TEST(Betti, NumbersOfKnownShapes) {
  EXPECT_EQ(betti_numbers(Mask({3, 3, 3})), (BettiNumbers{0, 0, 0}));
  EXPECT_EQ(betti_numbers(Mask({3, 3, 3}).inverted()), (BettiNumbers{1, 0, 0}));
  EXPECT_EQ(betti_numbers(box({3, 3, 3}, 1, 2)), (BettiNumbers{1, 0, 0}));
  EXPECT_EQ(betti_numbers(without(box({7, 7, 7}, 1, 6), 3, 4)), (BettiNumbers{1, 0, 1}));
  EXPECT_EQ(betti_numbers(ring({3, 5, 5})), (BettiNumbers{1, 1, 0}));
}

TEST(Betti, ARingInTheWallsOfAVolumeIsStillOne) {
  const Mask frame = without(Mask({1, 3, 3}).inverted(), 0, 0);
  EXPECT_EQ(betti_numbers(frame), (BettiNumbers{1, 0, 0}));
  const Mask open = draw(
      {1, 3, 3}, [](std::int64_t, std::int64_t y, std::int64_t x) { return !(y == 1 && x == 1); });
  EXPECT_EQ(betti_numbers(open), (BettiNumbers{1, 1, 0}));  // its hole leads out, above and below
}

TEST(Betti, VoxelsThatTouchDiagonallyAreConnected) {
  const Mask pair = draw(
      {2, 2, 2}, [](std::int64_t z, std::int64_t y, std::int64_t x) { return z == y && y == x; });
  EXPECT_EQ(betti_numbers(pair), (BettiNumbers{1, 0, 0}));
  // Four voxels around an empty one, each touching the next along an edge: a tunnel.
  const Mask diamond = draw(
      {1, 3, 3}, [](std::int64_t, std::int64_t y, std::int64_t x) { return (y + x) % 2 == 1; });
  EXPECT_EQ(betti_numbers(diamond), (BettiNumbers{1, 1, 0}));
  // The six neighbours of a voxel close it off: background does not leak through edges.
  const Mask cross = draw({3, 3, 3}, [](std::int64_t z, std::int64_t y, std::int64_t x) {
    return (z == 1) + (y == 1) + (x == 1) == 2;
  });
  EXPECT_EQ(betti_numbers(cross), (BettiNumbers{1, 0, 1}));
}

TEST(Betti, EulerNumbersAreThoseOfCountedCells) {
  for (const Mask& mask : random_masks()) EXPECT_EQ(euler_number(mask), brute::euler(mask));
}

TEST(Betti, ComponentsAndCavitiesAreThoseThatFloodingFinds) {
  for (const Mask& mask : random_masks()) {
    const auto foreground = brute::labels(mask, true);
    // With a border of background, everything open is one component.
    const Shape shape = mask.shape();
    const Mask padded = draw({shape[0] + 2, shape[1] + 2, shape[2] + 2},
                             [&](std::int64_t z, std::int64_t y, std::int64_t x) {
                               return !brute::at(mask, {z - 1, y - 1, x - 1});
                             });
    const auto background = brute::labels(padded, false);
    const BettiNumbers found = betti_numbers(mask);
    EXPECT_EQ(found[0], *std::max_element(foreground.begin(), foreground.end()));
    EXPECT_EQ(found[2], *std::max_element(background.begin(), background.end()) - 1);
    EXPECT_GE(found[1], 0);
  }
}

TEST(Topology, ScoreIsTheWeightedF1OfTheDimensionsThatOccur) {
  EXPECT_EQ(topology_score({}), 1);
  EXPECT_DOUBLE_EQ(topology_score({{4, 0, 0}, {2, 0, 0}, {2, 0, 0}}), 2.0 * 2 / 6);
  EXPECT_DOUBLE_EQ(topology_score({{1, 1, 0}, {1, 0, 0}, {1, 0, 0}}), 0.34 / 0.67);
  EXPECT_DOUBLE_EQ(topology_score({{1, 1, 0}, {1, 0, 1}, {1, 0, 0}}), 0.34);
  EXPECT_DOUBLE_EQ(topology_score({{1, 1, 0}, {1, 0, 0}, {1, 0, 0}}, {1, 3, 0}), 0.25);
  EXPECT_EQ(topology_score({{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}), 0);
}

TEST(Topology, CountsCompareBettiNumbers) {
  const Mask truth = ring({3, 5, 5});
  const Mask filled = draw({3, 5, 5}, [](std::int64_t z, std::int64_t y, std::int64_t x) {
    return z == 1 && y >= 1 && y < 4 && x >= 1 && x < 4;
  });
  EXPECT_EQ(topology_counts(truth, filled), (TopologyCounts{{1, 1, 0}, {1, 0, 0}, {1, 0, 0}}));
}

TEST(Topology, TilesAreCountedOneByOne) {
  const Mask left =
      draw({1, 1, 9}, [](std::int64_t, std::int64_t, std::int64_t x) { return x < 3; });
  const Mask right =
      draw({1, 1, 9}, [](std::int64_t, std::int64_t, std::int64_t x) { return x > 6; });
  EXPECT_EQ(topology_score(topology_counts(left, right)), 1);  // one component each, wherever
  EXPECT_EQ(topology_score(topology_counts(left, right, {2, 2, 2})), 0);
  // The first of two tiles has five of nine voxels.
  const Mask fifth =
      draw({1, 1, 9}, [](std::int64_t, std::int64_t, std::int64_t x) { return x == 4; });
  EXPECT_EQ(topology_score(topology_counts(left, fifth, {1, 1, 2})), 1);
  EXPECT_EQ(topology_counts(left, left, {1, 1, 3}).truth, (BettiNumbers{1, 0, 0}));
  EXPECT_EQ(topology_counts(left, left, {1, 1, 9}).truth, (BettiNumbers{3, 0, 0}));
  EXPECT_EQ(topology_counts(left, left, {1, 1, 99}).truth, (BettiNumbers{3, 0, 0}));
  EXPECT_THROW(topology_counts(left, left, {1, 0, 1}), Error);
  EXPECT_THROW(topology_counts(left, Mask({1, 1, 8})), Error);
}

}  // namespace
}  // namespace lockstep::volume
