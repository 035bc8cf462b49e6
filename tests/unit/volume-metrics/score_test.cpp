#include "recipes/volume/metrics/score.h"

#include "core/base/error.h"
#include "tests/unit/volume-metrics/volumes.h"

namespace lockstep::volume {
namespace {

using Labels = std::vector<std::uint8_t>;

VolumeScore score(const Labels& truth, const Labels& predicted, const Shape& shape,
                  const ScoreOptions& options = {}) {
  return competition_score<std::uint8_t>(truth, predicted, shape, options);
}

TEST(Score, OfEqualVolumesAndOfTwoEmptyOnesIsOne) {
  Labels labels(27);
  EXPECT_EQ(score(labels, labels, {3, 3, 3}).score, 1);
  labels[13] = 1;
  EXPECT_EQ(score(labels, labels, {3, 3, 3}).score, 1);
}

TEST(Score, OfOneEmptyVolumeIsThatOfTheComponentsAlone) {
  Labels labels(27), empty(27);
  labels[13] = 1;
  const VolumeScore one = score(labels, empty, {3, 3, 3});
  EXPECT_EQ(one.topology_score, 0);
  EXPECT_EQ(one.surface_dice, 0);
  EXPECT_EQ(one.voi_score, 1);
  EXPECT_DOUBLE_EQ(one.score, 0.35);
}

TEST(Score, TakesIgnoredVoxelsForBackgroundInBoth) {
  const Labels truth{1, 1, 0, 2, 2};
  const Labels clean{1, 1, 0, 0, 0};
  EXPECT_EQ(score(truth, {1, 1, 0, 1, 0}, {1, 1, 5}).score, 1);
  EXPECT_EQ(score(clean, clean, {1, 1, 5}).surface, score(truth, truth, {1, 1, 5}).surface);
  // Without an ignore value every label but 0 is foreground.
  const VolumeScore all = score(truth, {1, 1, 0, 1, 1}, {1, 1, 5}, {.ignore = std::nullopt});
  EXPECT_EQ(all.score, 1);
  EXPECT_EQ(all.topology.truth[0], 2);
}

TEST(Score, IsTheWeightedMeanOfItsParts) {
  const Labels truth{1, 1, 1, 1, 0, 0, 0, 0};
  const Labels predicted{1, 1, 0, 1, 0, 0, 0, 1};
  const VolumeScore found = score(truth, predicted, {1, 1, 8}, {.tolerance = 1});
  EXPECT_EQ(found.topology.truth[0], 1);      // in the first tile
  EXPECT_EQ(found.topology.predicted[0], 3);  // 2 and 1
  EXPECT_DOUBLE_EQ(found.topology_score, 0.5);
  EXPECT_DOUBLE_EQ(found.score, 0.30 * found.topology_score + 0.35 * found.surface_dice +
                                    0.35 * found.voi_score);
  EXPECT_LT(found.voi_score, 1);
  EXPECT_LT(found.surface_dice, 1);
  const VolumeScore surface_only =
      score(truth, predicted, {1, 1, 8}, {.tolerance = 1, .weights = {0, 2, 0}});
  EXPECT_DOUBLE_EQ(surface_only.score, found.surface_dice);
}

TEST(Score, IsTheSameForAllTypesOfLabels) {
  const std::vector<std::uint16_t> words{1, 0, 1, 2};
  const std::vector<std::int32_t> numbers{1, 0, 1, 2};
  const Labels bytes{1, 0, 1, 2};
  const double expected = score(bytes, {1, 1, 1, 1}, {1, 2, 2}).score;
  EXPECT_EQ(
      competition_score<std::uint16_t>(words, std::vector<std::uint16_t>{1, 1, 1, 1}, {1, 2, 2})
          .score,
      expected);
  EXPECT_EQ(
      competition_score<std::int32_t>(numbers, std::vector<std::int32_t>{1, 1, 1, 1}, {1, 2, 2})
          .score,
      expected);
}

TEST(Score, RefusesWhatCannotBe) {
  const Labels labels(8);
  EXPECT_THROW(score(labels, Labels(7), {2, 2, 2}), Error);
  EXPECT_THROW(score(labels, labels, {2, 2, 3}), Error);
  EXPECT_THROW(score(labels, labels, {2, 2, 2}, {.tolerance = -1}), Error);
  EXPECT_THROW(score(labels, labels, {2, 2, 2}, {.voi_alpha = -1}), Error);
  EXPECT_THROW(score(labels, labels, {2, 2, 2}, {.weights = {0, 0, 0}}), Error);
  EXPECT_THROW(score(labels, labels, {2, 2, 2}, {.topology_weights = {1, -1, 1}}), Error);
}

}  // namespace
}  // namespace lockstep::volume
