#include "recipes/volume/metrics/overlap.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace lockstep::volume {
namespace {

using Labels = std::vector<std::uint8_t>;

std::vector<OverlapCounts> counts(const Labels& truth, const Labels& predicted, int classes,
                                  std::optional<std::int64_t> ignore) {
  return overlap<std::uint8_t>(truth, predicted, classes, ignore);
}

TEST(Overlap, CountsEachClassOutsideTheIgnoredVoxels) {
  const auto found = counts({0, 1, 1, 1, 2, 2, 0}, {0, 1, 0, 1, 1, 0, 1}, 2, 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1], (OverlapCounts{3, 3, 2}));
  EXPECT_EQ(found[0], (OverlapCounts{2, 2, 1}));
  EXPECT_DOUBLE_EQ(dice(found[1]), 4.0 / 6);
  EXPECT_DOUBLE_EQ(iou(found[1]), 2.0 / 4);
}

TEST(Overlap, IgnoresWhateverIsPredictedWhereNothingIsKnown) {
  EXPECT_EQ(counts({1, 2}, {1, 7}, 2, 2)[1], (OverlapCounts{1, 1, 1}));
}

TEST(Overlap, OfAClassThatIsInNeitherIsOneAndOfOneThatIsInOneOnlyZero) {
  EXPECT_EQ(dice(OverlapCounts{}), 1);
  EXPECT_EQ(iou(OverlapCounts{}), 1);
  EXPECT_EQ(dice(OverlapCounts{5, 0, 0}), 0);
  EXPECT_EQ(iou(OverlapCounts{0, 5, 0}), 0);
}

TEST(Overlap, MeansAreOverTheClassesThatOccur) {
  const auto found = counts({0, 1, 1, 3}, {0, 1, 0, 3}, 5, std::nullopt);
  EXPECT_DOUBLE_EQ(mean_dice(found, 1), (2.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(mean_iou(found), (0.5 + 0.5 + 1) / 3);
  EXPECT_EQ(mean_dice(counts({0}, {0}, 3, std::nullopt), 1), 1);
}

TEST(Overlap, OfPartsAddsUpToThatOfTheWhole) {
  auto sum = counts({0, 1, 1}, {1, 1, 0}, 2, 2)[1];
  sum += counts({1, 2, 0}, {1, 1, 0}, 2, 2)[1];
  EXPECT_EQ(sum, counts({0, 1, 1, 1, 2, 0}, {1, 1, 0, 1, 1, 0}, 2, 2)[1]);
}

TEST(Overlap, TakesWiderLabels) {
  const std::vector<std::uint16_t> wide{300, 0, 65535};
  EXPECT_EQ(overlap<std::uint16_t>(wide, wide, 301, 65535)[300], (OverlapCounts{1, 1, 1}));
  const std::vector<std::int32_t> truth{-1, 0, 1};
  const std::vector<std::int32_t> predicted{1, 0, 1};
  EXPECT_EQ(overlap<std::int32_t>(truth, predicted, 2, -1)[1], (OverlapCounts{1, 1, 1}));
}

TEST(Overlap, NamesALabelThatIsNoClass) {
  try {
    counts({0, 1, 2}, {0, 1, 1}, 2, std::nullopt);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the truth has label 2 at voxel 2, which is not a class");
    EXPECT_EQ(error.hint(), "classes are 0 to 1; set the ignore value if 2 means unlabelled");
  }
  EXPECT_THROW(counts({0, 1}, {0, 2}, 2, 2), Error);
  EXPECT_THROW(counts({0, 1}, {0}, 2, 2), Error);
  EXPECT_THROW(counts({}, {}, 0, 2), Error);
}

}  // namespace
}  // namespace lockstep::volume
