// Grids of NIfTI files that differ by flips and permutations of axes.
#include "recipes/volume/files/axes.h"

#include <algorithm>
#include <random>

#include "volume_test.h"

namespace lockstep::volume {
namespace {

// Columns x, y, z and the origin.
VolumeHeader placed(const VolumeShape& shape, const std::array<std::array<double, 4>, 3>& srow) {
  NiftiSpace space;
  space.sform_code = 1;
  space.srow = srow;
  return {.shape = shape, .space = space};
}

constexpr VolumeShape ras_shape{.depth = 2, .height = 3, .width = 4};
const std::array<std::array<double, 4>, 3> ras{{{0.5, 0, 0, -10}, {0, 0.75, 0, 20}, {0, 0, 2, 30}}};

TEST(AxesOnto, IsNothingToTurnForTheSameGrid) {
  EXPECT_EQ(axes_onto(placed(ras_shape, ras), placed(ras_shape, ras)), AxisMap());
  auto near = ras;
  near[0][3] += 0.04;
  EXPECT_EQ(axes_onto(placed(ras_shape, ras), placed(ras_shape, near)), AxisMap());
}

TEST(AxesOnto, FindsFlips) {
  // LPS: x and y run the other way, from the last voxel's place.
  const std::array<std::array<double, 4>, 3> lps{
      {{-0.5, 0, 0, -10 + 0.5 * 3}, {0, -0.75, 0, 20 + 0.75 * 2}, {0, 0, 2, 30}}};
  const auto map = axes_onto(placed(ras_shape, ras), placed(ras_shape, lps));
  EXPECT_EQ(map, (AxisMap{.source = {0, 1, 2}, .flipped = {false, true, true}}));
}

TEST(AxesOnto, FindsPermutations) {
  // Stored x of the other is z of the first, and so on: z, x, y, with y backwards.
  const VolumeShape shape{.depth = 3, .height = 4, .width = 2};
  const std::array<std::array<double, 4>, 3> turned_rows{
      {{0, 0.5, 0, -10}, {0, 0, -0.75, 20 + 0.75 * 2}, {2, 0, 0, 30}}};
  const auto map = axes_onto(placed(ras_shape, ras), placed(shape, turned_rows));
  ASSERT_TRUE(map);
  EXPECT_EQ(*map, (AxisMap{.source = {2, 0, 1}, .flipped = {false, true, false}}));
}

TEST(AxesOnto, IsNothingWherePlacesDiffer) {
  auto far = ras;
  far[0][3] += 0.3;
  EXPECT_EQ(axes_onto(placed(ras_shape, ras), placed(ras_shape, far)), std::nullopt);
  auto wide = ras;
  wide[0][0] = 0.6;
  EXPECT_EQ(axes_onto(placed(ras_shape, ras), placed(ras_shape, wide)), std::nullopt);
}

TEST(AxesOnto, KeepsToWhatIsStoredWhereNoPlaceIsKnown) {
  const VolumeHeader none{.shape = ras_shape};
  EXPECT_EQ(axes_onto(none, placed(ras_shape, ras)), AxisMap());
  VolumeHeader no_code = placed(ras_shape, ras);
  no_code.space->sform_code = 0;
  EXPECT_EQ(axes_onto(placed(ras_shape, ras), no_code), AxisMap());
  EXPECT_EQ(axes_onto(none, placed({.depth = 4, .height = 3, .width = 2}, ras)), std::nullopt);
}

// Against the definition: the voxel of the result and the one that it came from lie in one place.
TEST(Turned, PutsEachVoxelWhereItsPlaceIs) {
  std::vector<std::uint8_t> values(24);
  std::mt19937 random(3);
  std::generate(values.begin(), values.end(),
                [&] { return static_cast<std::uint8_t>(random() % 250); });
  AxisMap map;
  do
    for (unsigned flips = 0; flips < 8; ++flips) {
      for (std::size_t axis = 0; axis < 3; ++axis) map.flipped[axis] = (flips >> axis & 1U) != 0;
      const std::array<std::size_t, 3> from{2, 3, 4};
      const auto found = turned(values, ras_shape, map);
      std::size_t at = 0;
      for (std::size_t i = 0; i < from[map.source[0]]; ++i)
        for (std::size_t j = 0; j < from[map.source[1]]; ++j)
          for (std::size_t k = 0; k < from[map.source[2]]; ++k) {
            std::array<std::size_t, 3> place{};
            const std::array<std::size_t, 3> index{i, j, k};
            for (std::size_t axis = 0; axis < 3; ++axis)
              place[map.source[axis]] =
                  map.flipped[axis] ? from[map.source[axis]] - 1 - index[axis] : index[axis];
            ASSERT_EQ(found[at++], values[(place[0] * 3 + place[1]) * 4 + place[2]]);
          }
    }
  while (std::next_permutation(map.source.begin(), map.source.end()));
}

}  // namespace
}  // namespace lockstep::volume
