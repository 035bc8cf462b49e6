#include "recipes/volume/metrics/components.h"

#include <algorithm>

#include "core/base/error.h"
#include "tests/unit/volume-metrics/brute_force.h"

namespace lockstep::volume {
namespace {

TEST(Components, AreThoseThatFloodingFindsInTheSameOrder) {
  for (const Mask& mask : random_masks())
    for (const bool corners : {false, true}) {
      const Components found =
          components(mask, corners ? Connectivity::corners_26 : Connectivity::faces_6);
      const auto expected = brute::labels(mask, corners);
      ASSERT_EQ(dense_labels(found), expected);
      for (std::size_t i = 0; i < found.sizes.size(); ++i)
        EXPECT_EQ(found.sizes[i], std::count(expected.begin(), expected.end(), i + 1));
    }
}

TEST(Components, ThatTouchAtACornerAreOneOf26NeighboursAndTwoOf6) {
  for (const brute::Voxel& other : brute::voxels({3, 3, 3})) {
    if (other == brute::Voxel{1, 1, 1}) continue;
    const Mask pair = draw({3, 3, 3}, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      const brute::Voxel voxel{z, y, x};
      return voxel == other || voxel == brute::Voxel{1, 1, 1};
    });
    const auto apart = std::abs(other[0] - 1) + std::abs(other[1] - 1) + std::abs(other[2] - 1);
    EXPECT_EQ(components(pair, Connectivity::corners_26).sizes.size(), 1u);
    EXPECT_EQ(components(pair, Connectivity::faces_6).sizes.size(), apart == 1 ? 1u : 2u);
  }
}

TEST(Components, OfAnEmptyVolumeAreNoneAndOfAFullOneOne) {
  EXPECT_TRUE(components(Mask({3, 4, 70}), Connectivity::faces_6).sizes.empty());
  const Components full = components(Mask({3, 4, 70}).inverted(), Connectivity::faces_6);
  EXPECT_EQ(full.sizes, std::vector<std::int64_t>{840});
  EXPECT_EQ(full.runs.size(), 12u);
}

TEST(SmallComponents, GoAndOthersStay) {
  Mask mask = draw({1, 3, 80}, [](std::int64_t, std::int64_t y, std::int64_t x) {
    return (y == 0 && x >= 60 && x < 70) || (y == 1 && x == 70) || (y == 2 && x < 3) ||
           (y == 0 && x == 0);
  });
  Mask faces = mask;
  EXPECT_EQ(remove_small_components(mask, 4, Connectivity::corners_26), 2);
  EXPECT_EQ(mask.count(), 11);
  EXPECT_EQ(remove_small_components(faces, 3, Connectivity::faces_6), 2);
  EXPECT_EQ(faces.count(), 13);
  EXPECT_EQ(remove_small_components(faces, 0, Connectivity::faces_6), 0);
}

TEST(SmallComponents, OfOneClassBecomeBackgroundAndOtherClassesStay) {
  std::vector<std::uint8_t> labels{1, 1, 0, 1, 2, 0, 3, 3, 3};
  EXPECT_EQ(remove_small_components(labels, {1, 1, 9}, 1, 2, Connectivity::corners_26), 1);
  EXPECT_EQ(labels, (std::vector<std::uint8_t>{1, 1, 0, 0, 2, 0, 3, 3, 3}));
  EXPECT_EQ(remove_small_components(labels, {1, 1, 9}, 3, 9, Connectivity::corners_26, 7), 1);
  EXPECT_EQ(labels, (std::vector<std::uint8_t>{1, 1, 0, 0, 2, 0, 7, 7, 7}));
  EXPECT_THROW(remove_small_components(labels, {1, 1, 8}, 3, 9, Connectivity::corners_26), Error);
}

}  // namespace
}  // namespace lockstep::volume
