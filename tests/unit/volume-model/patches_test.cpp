// Where patches lie, how they are turned and what they hold.
#include "recipes/volume/model/patches.h"

#include "tests/unit/volume-model/cached.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::volume {
namespace {

constexpr Triple slab_extents{12, 10, 14};

int place_value(std::int64_t z, std::int64_t y, std::int64_t x) {
  return static_cast<int>((z * 31 + y * 7 + x) % 251);
}

class PatchesTest : public ::testing::Test {
 protected:
  Patches patches(const PatchOptions& options, const CachedVolumes::Value& label) {
    return Patches(
        map_volumes({volumes.add("a", slab_extents, place_value, label, options.ignore)}, {}),
        options);
  }
  CachedVolumes volumes;
};

int none(std::int64_t, std::int64_t, std::int64_t) { return 0; }

TEST_F(PatchesTest, APatchIsAFunctionOfSeedEpochAndSample) {
  const Patches data = patches({.size = {4, 4, 4}}, none);
  EXPECT_EQ(data.size(), 8);
  EXPECT_TRUE(at::equal(sample_of(data, 3, 1, 0)[0], sample_of(data, 3, 1, 9)[0]));
  EXPECT_FALSE(at::equal(sample_of(data, 3, 1)[0], sample_of(data, 3, 2)[0]));
  EXPECT_FALSE(at::equal(sample_of(data, 3, 1)[0], sample_of(data, 4, 1)[0]));
}

TEST_F(PatchesTest, WithoutTurnsAPatchIsAPartOfTheVolumeAsItIs) {
  const Patches data =
      patches({.size = {4, 5, 6}, .turn = {.flip = false, .rotate90 = false}},
              [](std::int64_t z, std::int64_t, std::int64_t) { return static_cast<int>(z % 2); });
  std::set<int> corners;
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::vector<at::Tensor> sample = sample_of(data, i);
    ASSERT_EQ(sample[0].sizes(), (at::IntArrayRef{1, 4, 5, 6}));
    const int corner = sample[0][0][0][0][0].item<int>();
    corners.insert(corner);
    bool found = false;
    for (std::int64_t z = 0; z <= 8 && !found; ++z)
      for (std::int64_t y = 0; y <= 5 && !found; ++y)
        for (std::int64_t x = 0; x <= 8 && !found; ++x) {
          if (place_value(z, y, x) != corner) continue;
          found = true;
          for (std::int64_t a = 0; a < 4; ++a)
            for (std::int64_t b = 0; b < 5; ++b)
              for (std::int64_t c = 0; c < 6; ++c)
                found = found &&
                        sample[0][0][a][b][c].item<int>() == place_value(z + a, y + b, x + c) &&
                        sample[1][a][b][c].item<int>() == (z + a) % 2;
        }
    EXPECT_TRUE(found) << i;
  }
  EXPECT_GT(corners.size(), 3U);
}

TEST_F(PatchesTest, EveryTurnShowsTheSameVoxels) {
  Random random(1, RandomStream::sample, 0, 0);
  std::set<std::array<Triple, 3>> turns;
  for (int i = 0; i < 400; ++i) {
    const Turned box = turned_box({2, 3, 4}, {3, 4, 4}, {}, random);
    turns.insert(box.step);
    std::set<Triple> seen;
    for (std::int64_t z = 0; z < 3; ++z)
      for (std::int64_t y = 0; y < 4; ++y)
        for (std::int64_t x = 0; x < 4; ++x) {
          Triple at = box.origin;
          for (std::size_t k = 0; k < 3; ++k)
            at[k] += box.step[0][k] * z + box.step[1][k] * y + box.step[2][k] * x;
          EXPECT_TRUE(at[0] >= 2 && at[0] < 5 && at[1] >= 3 && at[1] < 7 && at[2] >= 4 &&
                      at[2] < 8);
          seen.insert(at);
        }
    EXPECT_EQ(seen.size(), 48U);
  }
  EXPECT_EQ(turns.size(), 16U);  // 2 along z, times the 8 of a square
}

TEST_F(PatchesTest, QuarterTurnsWithoutFlipsKeepTheHandOfThePlane) {
  Random random(1, RandomStream::sample, 0, 0);
  std::set<std::array<Triple, 3>> turns;
  for (int i = 0; i < 200; ++i) {
    const Turned box = turned_box({0, 0, 0}, {3, 4, 4}, {.flip = false, .rotate90 = true}, random);
    turns.insert(box.step);
    const Triple &down = box.step[1], &across = box.step[2];
    EXPECT_EQ(down[1] * across[2] - down[2] * across[1], 1);
    EXPECT_EQ(box.step[0], (Triple{1, 0, 0}));
  }
  EXPECT_EQ(turns.size(), 4U);
}

TEST_F(PatchesTest, APlaneThatIsNotSquareIsNotTurned) {
  Random random(1, RandomStream::sample, 0, 0);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(turned_box({0, 0, 0}, {3, 4, 6}, {}, random).step[2][1], 0);
}

TEST_F(PatchesTest, PositivePatchesHoldForeground) {
  const auto corner = [](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<int>(z == 11 && y == 0 && x == 13);
  };
  const Patches positive = patches({.size = {4, 4, 4}, .per_volume = 50, .positive = 1}, corner);
  const Patches any = patches({.size = {4, 4, 4}, .per_volume = 50, .positive = 0}, corner);
  int with = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(sample_of(positive, i)[1].sum().item<int>(), 1);
    with += sample_of(any, i)[1].sum().item<int>();
  }
  EXPECT_LT(with, 10);
}

TEST_F(PatchesTest, IgnoredVoxelsHaveNoLabelAndAreNoForeground) {
  const Patches data =
      patches({.size = {12, 10, 14}, .positive = 1, .ignore = 2, .turn = {.flip = false}},
              [](std::int64_t z, std::int64_t, std::int64_t x) {
                return z == 0 ? 2 : x == 0 ? 1 : 0;
              });
  const at::Tensor labels = sample_of(data, 0)[1];
  EXPECT_TRUE(labels[0].eq(no_label).all().item<bool>());
  EXPECT_EQ(labels.eq(1).sum().item<int>(), 11 * 10);
  EXPECT_EQ(labels.eq(2).sum().item<int>(), 0);
}

TEST_F(PatchesTest, BeyondTheVolumeThereIsNoLabel) {
  const Patches data = patches({.size = {16, 16, 16}, .turn = {.flip = false, .rotate90 = false}},
                               [](std::int64_t, std::int64_t, std::int64_t) { return 1; });
  const std::vector<at::Tensor> sample = sample_of(data, 0);
  EXPECT_EQ(sample[1].eq(1).sum().item<int>(), 12 * 10 * 14);
  EXPECT_EQ(sample[1].eq(no_label).sum().item<int>(), 16 * 16 * 16 - 12 * 10 * 14);
  EXPECT_EQ(sample[0][0][0][0][0].item<int>(), 0);
  EXPECT_EQ(sample[0][0][2][3][1].item<int>(), place_value(0, 0, 0));
}

TEST_F(PatchesTest, OfASlabOnlyItsPlanesAreSeen) {
  VolumeEntry entry = volumes.add(
      "slab", slab_extents,
      [](std::int64_t z, std::int64_t, std::int64_t) { return static_cast<int>(z + 1); },
      [](std::int64_t z, std::int64_t, std::int64_t) { return z >= 8 ? 1 : 0; });
  entry.end = 8;
  for (const double turn : {0.0, 30.0}) {
    const Patches data(
        map_volumes({entry}, {}),
        {.size = {10, 8, 8}, .per_volume = 20, .positive = 1, .warp = {.rotate = turn}});
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::vector<at::Tensor> sample = sample_of(data, i);
      EXPECT_LE(sample[0].max().item<int>(), 8);
      EXPECT_EQ(sample[1].eq(1).sum().item<int>(), 0);
    }
  }
}

TEST_F(PatchesTest, AWarpThatDoesNothingIsACopy) {
  Random random(3, RandomStream::sample, 0, 0);
  const Turned box = turned_box({1, 2, 3}, {3, 4, 4}, {}, random);
  const Warp warp(box, {3, 4, 4}, {2, 1, 0.5}, {}, random);
  std::array<std::vector<float>, 3> places;
  for (std::int64_t z = 0; z < 3; ++z)
    for (std::int64_t y = 0; y < 4; ++y) {
      warp.row(z, y, places);
      for (std::int64_t x = 0; x < 4; ++x)
        for (std::size_t k = 0; k < 3; ++k)
          EXPECT_NEAR(places[k][static_cast<std::size_t>(x)],
                      box.origin[k] + box.step[0][k] * z + box.step[1][k] * y + box.step[2][k] * x,
                      1e-5);
    }
}

// Distances in millimetres stay, whatever the spacing; the middle of the patch stays where it is.
TEST_F(PatchesTest, ATurnKeepsDistances) {
  const std::array<double, 3> spacing{3, 1, 0.5};
  Random random(5, RandomStream::sample, 0, 0);
  const Turned box{.origin = {10, 10, 10}, .step = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  const Warp warp(box, {5, 5, 5}, spacing, {.rotate = 90}, random);
  std::array<std::vector<float>, 3> row, other;
  warp.row(2, 2, row);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(row[k][2], 12, 1e-4);
  warp.row(4, 1, other);
  const auto distance = [&](const std::array<double, 3>& steps) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += steps[k] * steps[k] * spacing[k] * spacing[k];
    return std::sqrt(sum);
  };
  std::array<double, 3> moved{};
  for (std::size_t k = 0; k < 3; ++k)
    moved[k] = static_cast<double>(other[k][3]) - static_cast<double>(row[k][0]);
  EXPECT_NEAR(distance(moved), distance({2, -1, 3}), 1e-3);
}

TEST_F(PatchesTest, ElasticShiftsStayWithinTheirBound) {
  Random random(5, RandomStream::sample, 0, 0);
  const Turned box{.origin = {0, 0, 0}, .step = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  const Warp warp(box, {9, 9, 9}, {1, 1, 1}, {.elastic = 2}, random);
  std::array<std::vector<float>, 3> places;
  double largest = 0;
  for (std::int64_t z = 0; z < 9; ++z) {
    warp.row(z, 4, places);
    for (std::size_t x = 0; x < 9; ++x)
      largest =
          std::max(largest, std::abs(static_cast<double>(places[2][x]) - static_cast<double>(x)));
  }
  EXPECT_LE(largest, 2);
  EXPECT_GT(largest, 0.3);
}

}  // namespace
}  // namespace lockstep::volume
