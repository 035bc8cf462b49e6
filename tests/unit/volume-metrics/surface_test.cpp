#include "recipes/volume/metrics/surface.h"

#include <cmath>

#include "core/base/error.h"
#include "fakes/tenths.h"
#include "recipes/volume/metrics/distance.h"
#include "tests/unit/volume-metrics/brute_force.h"

namespace lockstep::volume {
namespace {

const std::vector<Spacing> spacings{{1, 1, 1}, {2.5, 1, 0.3}, {0.1, 0.1, 0.1}, {1, 3, 2}};

TEST(Distances, AreTheNearestOfAllVoxels) {
  for (const Mask& mask : random_masks())
    for (const Spacing& spacing : spacings) {
      const auto points = brute::set_voxels(mask);
      const auto all = squared_distances(mask, spacing);
      const double limit = 2 * spacing[1];
      const auto limited = squared_distances(mask, spacing, limit);
      for (const brute::Voxel& v : brute::voxels(mask.shape())) {
        const auto expected = static_cast<float>(brute::squared_distance(points, v, spacing));
        const std::size_t i = brute::index(mask.shape(), v);
        if (mask.count() == 0) {
          ASSERT_EQ(all[i], expected);
        } else {
          ASSERT_NEAR(all[i], expected, 1e-5 * expected);
        }
        if (expected < limit * limit * 0.999) {
          ASSERT_EQ(limited[i], all[i]);
        }
        if (expected > limit * limit * 1.001) {
          ASSERT_EQ(limited[i], std::numeric_limits<float>::infinity());
        }
      }
    }
}

TEST(Within, IsThatDistanceForSmallAndLargeTolerances) {
  std::size_t number = 0;
  for (const Mask& mask : random_masks())
    for (const Spacing& spacing : spacings)
      for (const double tolerance : {0.0, 0.3, 1.0, 2.0, 3.1, 200.0}) {
        if (!testing::has_turn_twice(number++)) continue;
        const auto points = brute::set_voxels(mask);
        const Mask found = within(mask, spacing, tolerance);
        std::int64_t count = 0;
        for (const brute::Voxel& v : brute::voxels(mask.shape())) {
          const bool near =
              std::sqrt(brute::squared_distance(points, v, spacing)) <= tolerance * 1.0000001;
          ASSERT_EQ(brute::at(found, v), near) << tolerance << " " << spacing[2];
          count += near;
        }
        ASSERT_EQ(found.count(), count);  // nothing beyond the width
      }
}

TEST(Within, IsTheSameByShiftedRowsAndByTheDistanceTransform) {
  // 149 rows are within 7 of a row, 253 within 9.
  const Mask mask = random_mask({21, 22, 70}, 0.001, 5);
  ASSERT_GT(mask.count(), 10);
  const auto points = brute::set_voxels(mask);
  const Mask isotropic = within(mask, {1, 1, 1}, 9);
  const Mask shifted = within(mask, {1, 1, 1}, 7);
  for (const brute::Voxel& v : brute::voxels(mask.shape())) {
    const double distance = brute::squared_distance(points, v, {1, 1, 1});
    ASSERT_EQ(brute::at(isotropic, v), distance <= 81);
    ASSERT_EQ(brute::at(shifted, v), distance <= 49);
  }
}

TEST(Within, RefusesATolerance) {
  EXPECT_THROW(within(Mask({1, 1, 1}), {1, 1, 1}, -1), Error);
  EXPECT_THROW(within(Mask({1, 1, 1}), {1, 1, 1}, 1.0 / 0.0), Error);
  EXPECT_THROW(within(Mask({1, 1, 1}), {1, -1, 1}, 1), Error);
}

TEST(SurfacePoints, AreTheCornersWhereForegroundMeetsBackground) {
  for (const Mask& mask : random_masks()) {
    const Mask points = surface_points(mask);
    std::int64_t count = 0;
    for (const brute::Voxel& corner : brute::voxels(points.shape())) {
      int set = 0;
      for (const brute::Voxel& step : brute::voxels({2, 2, 2}))
        set += brute::at(mask, {corner[0] - step[0], corner[1] - step[1], corner[2] - step[2]});
      ASSERT_EQ(brute::at(points, corner), set > 0 && set < 8);
      count += set > 0 && set < 8;
    }
    EXPECT_EQ(points.count(), count);
  }
}

TEST(SurfaceDice, OfASingleVoxelCountsItsEightCorners) {
  const Mask voxel = box({3, 3, 3}, 1, 2);
  const SurfaceCounts counts = surface_counts(voxel, voxel, {1, 1, 1}, 0);
  EXPECT_EQ(counts, (SurfaceCounts{8, 8, 8, 8}));
  EXPECT_EQ(surface_dice(counts), 1);
}

TEST(SurfaceDice, LeavesOutTheInsideOfACube) {
  EXPECT_EQ(surface_points(box({6, 6, 6}, 1, 5)).count(), 5 * 5 * 5 - 3 * 3 * 3);
}

TEST(SurfaceDice, IsOneForTwoEmptyMasksAndZeroForOne) {
  const Mask empty({4, 4, 4});
  const Mask cube = box({4, 4, 4}, 1, 3);
  EXPECT_EQ(surface_dice(surface_counts(empty, empty, {1, 1, 1}, 2)), 1);
  EXPECT_EQ(surface_dice(surface_counts(empty, cube, {1, 1, 1}, 2)), 0);
  EXPECT_EQ(surface_dice(surface_counts(cube, empty, {1, 1, 1}, 2)), 0);
}

// Two sheets one voxel thick, three apart.
TEST(SurfaceDice, OfParallelSheetsDependsOnToleranceAndSpacing) {
  const auto sheet = [](std::int64_t at) {
    return draw({9, 5, 5}, [=](std::int64_t z, std::int64_t, std::int64_t) { return z == at; });
  };
  // Corners of the first lie at 2 and 3, of the second at 5 and 6: half of each is 2 away, half 3.
  const Mask one = sheet(2), two = sheet(5);
  EXPECT_EQ(surface_counts(one, two, {1, 1, 1}, 2), (SurfaceCounts{72, 36, 72, 36}));
  EXPECT_EQ(surface_dice(surface_counts(one, two, {1, 1, 1}, 1.9)), 0);
  EXPECT_EQ(surface_dice(surface_counts(one, two, {1, 1, 1}, 3)), 1);
  EXPECT_EQ(surface_dice(surface_counts(one, two, {2, 1, 1}, 3.9)), 0);
  EXPECT_EQ(surface_dice(surface_counts(one, two, {2, 1, 1}, 4)), 0.5);
  EXPECT_EQ(surface_dice(surface_counts(one, two, {0.1, 9, 9}, 0.3)), 1);
}

TEST(SurfaceDice, AddsUpOverVolumes) {
  SurfaceCounts sum{1, 2, 3, 4};
  sum += {10, 20, 30, 40};
  EXPECT_EQ(sum, (SurfaceCounts{11, 22, 33, 44}));
}

TEST(SurfaceDice, RefusesVolumesOfDifferentShapes) {
  EXPECT_THROW(surface_counts(Mask({2, 3, 4}), Mask({2, 4, 3}), {1, 1, 1}, 2), Error);
}

}  // namespace
}  // namespace lockstep::volume
