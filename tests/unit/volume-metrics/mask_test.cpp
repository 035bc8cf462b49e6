#include "recipes/volume/metrics/mask.h"

#include "core/base/error.h"
#include "tests/unit/volume-metrics/volumes.h"

namespace lockstep::volume {
namespace {

TEST(Mask, HoldsWhatWasSetAndCountsIt) {
  for (const Mask& mask : random_masks()) {
    const auto [depth, height, width] = mask.shape();
    const Mask inverse = mask.inverted();
    std::int64_t index = 0, set = 0;
    std::vector<bool> dense;
    for (std::int64_t z = 0; z < depth; ++z)
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x, ++index) {
          dense.push_back(mask.at(z, y, x));
          set += dense.back();
          ASSERT_NE(inverse.at(z, y, x), mask.at(z, y, x));
        }
    EXPECT_EQ(mask.count(), set);
    EXPECT_EQ(inverse.count(), index - set);
    const Mask again = Mask::where(mask.shape(), [&](std::size_t i) { return dense[i]; });
    EXPECT_EQ(again.count(), set);
    Mask both = again;
    both.keep_where(mask);
    EXPECT_EQ(both.count(), set);
    both.keep_where(inverse);
    EXPECT_EQ(both.count(), 0);
  }
}

TEST(Mask, SetsRunsAcrossWords) {
  for (const auto& [begin, end] : std::vector<std::pair<int, int>>{
           {0, 0}, {0, 64}, {63, 65}, {5, 190}, {64, 128}, {128, 190}}) {
    Mask mask({2, 2, 190});
    mask.set_run(1, 0, begin, end);
    EXPECT_EQ(mask.count(), end - begin);
    for (int x = begin; x < end; ++x) ASSERT_TRUE(mask.at(1, 0, x)) << x;
  }
}

TEST(Mask, IsCroppedToABox) {
  const Mask mask = random_mask({4, 5, 200}, 0.4, 3);
  for (const auto& [from, to] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 200}, {0, 64}, {64, 128}, {63, 129}, {70, 199}, {199, 200}}) {
    const Mask part = mask.cropped({1, 2, from}, {4, 4, to});
    ASSERT_EQ(part.shape(), (Shape{3, 2, to - from}));
    std::int64_t set = 0;
    for (std::int64_t z = 0; z < 3; ++z)
      for (std::int64_t y = 0; y < 2; ++y)
        for (std::int64_t x = 0; x < to - from; ++x) {
          ASSERT_EQ(part.at(z, y, x), mask.at(1 + z, 2 + y, from + x)) << x;
          set += part.at(z, y, x);
        }
    EXPECT_EQ(part.count(), set);  // nothing beyond the width
  }
}

TEST(Mask, RefusesShapesAndSpacingsThatCannotBe) {
  EXPECT_NO_THROW(check_shape("the truth", {2, 3, 4}, 24));
  EXPECT_THROW(check_shape("the truth", {2, 3, 4}, 25), Error);
  EXPECT_THROW(check_shape("the truth", {0, 3, 4}, 0), Error);
  EXPECT_THROW(check_shape("the truth", {1 << 30, 1 << 30, 16}, 0), Error);
  EXPECT_THROW(check_spacing({1, 0, 1}), Error);
  EXPECT_THROW(check_spacing({1, 1, 1.0 / 0.0}), Error);
  try {
    check_shape("the truth", {2, 3, 4}, 25);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the truth has 25 voxels, which is not 2 x 3 x 4");
  }
}

}  // namespace
}  // namespace lockstep::volume
