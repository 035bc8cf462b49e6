#include "recipes/fewshot/metrics/episode_scores.h"

#include <gmock/gmock.h>

#include <cmath>

#include "fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;

constexpr double scores_near = 1e-9;

TrueBox truth_of_picture(std::int64_t picture, std::int64_t category) {
  return {.picture = picture, .category = category, .width = 10, .height = 10, .area = 100};
}
Detection right(std::int64_t picture, std::int64_t category, double score = 0.5) {
  return {.picture = picture, .category = category, .width = 10, .height = 10, .score = score};
}
Detection wrong(std::int64_t picture, std::int64_t category, double score = 0.9) {
  return {.picture = picture,
          .category = category,
          .x = 500,
          .width = 10,
          .height = 10,
          .score = score};
}

// AP50 of class 1 is 1, of class 2 it is 0.
const ScoredEpisode half{{1, 2}, {truth_of_picture(1, 1), truth_of_picture(1, 2)}, {right(1, 1)}};
// AP50 of class 1 is 0.5: something wrong is surer.
const ScoredEpisode unsure{
    {1, 3}, {truth_of_picture(4, 1)}, {wrong(4, 1), right(4, 1), right(4, 3)}};

const std::vector<std::int64_t> none_novel;

TEST(EpisodeScores, AnEpisodeIsTheMeanOfItsClassesWithTruth) {
  const EpisodeScores scores = score_episodes(std::vector{half, unsure}, none_novel);
  ASSERT_EQ(scores.episodes.size(), 2u);
  EXPECT_NEAR(scores.episodes[0].ap50, 0.5, scores_near);
  EXPECT_NEAR(scores.episodes[1].ap50, 0.5,
              scores_near);  // class 3 has no truth there, and is left out
  EXPECT_NEAR(scores.all.mean.ap50.estimate, 0.5, scores_near);
  EXPECT_EQ(scores.all.mean.episodes, 2u);
}

TEST(EpisodeScores, ClassesAreOverTheEpisodesThatHaveThem) {
  const EpisodeScores scores = score_episodes(std::vector{half, unsure}, none_novel);
  ASSERT_EQ(scores.classes.size(), 3u);
  EXPECT_EQ(scores.classes[0].category, 1);
  EXPECT_EQ(scores.classes[0].mean.episodes, 2u);
  EXPECT_NEAR(scores.classes[0].mean.ap50.estimate, 0.75, scores_near);
  EXPECT_EQ(scores.classes[1].mean.episodes, 1u);
  EXPECT_EQ(scores.classes[1].mean.ap50.estimate, 0);
  EXPECT_EQ(scores.classes[2].mean.episodes, 0u);
  EXPECT_TRUE(std::isnan(scores.classes[2].mean.ap50.estimate));
  EXPECT_EQ(scores.classes[2].pooled.ap50, no_score);
}

TEST(EpisodeScores, BaseAndNovelAreApart) {
  const EpisodeScores scores =
      score_episodes(std::vector{half, unsure}, std::vector<std::int64_t>{2, 77});
  EXPECT_NEAR(scores.base.mean.ap50.estimate, 0.75, scores_near);
  EXPECT_EQ(scores.base.mean.episodes, 2u);
  EXPECT_EQ(scores.novel.mean.ap50.estimate, 0);
  EXPECT_EQ(scores.novel.mean.episodes, 1u);
  EXPECT_NEAR(scores.all.mean.ap50.estimate, 0.5, scores_near);
  EXPECT_FALSE(scores.classes[0].novel);
  EXPECT_TRUE(scores.classes[1].novel);
  EXPECT_EQ(scores.novel.pooled.ap50, 0);
}

TEST(EpisodeScores, PooledIsOneEvaluationOfAll) {
  // Both have a picture 1, which are two when pooled: of equal ids neither hides the other.
  const ScoredEpisode sure{{1}, {truth_of_picture(1, 1)}, {right(1, 1, 0.8)}};
  const ScoredEpisode fooled{{1}, {truth_of_picture(1, 1)}, {wrong(1, 1, 0.9), right(1, 1, 0.7)}};
  const EpisodeScores scores = score_episodes(std::vector{sure, fooled}, none_novel);
  EXPECT_NEAR(scores.all.mean.ap50.estimate, 0.75, scores_near);
  EXPECT_NEAR(scores.all.pooled.ap50, 2.0 / 3, scores_near);  // wrong, right, right
  EXPECT_EQ(scores.pooled.recall_at(0, 0), 1);
}

TEST(EpisodeScores, BoxesOfClassesThatWereNotDrawnAreLeftOutOfThePool) {
  const ScoredEpisode one{
      {1}, {truth_of_picture(1, 1), truth_of_picture(1, 2)}, {right(1, 1), wrong(1, 2)}};
  const ScoredEpisode two{{2}, {truth_of_picture(1, 2)}, {right(1, 2)}};
  const EpisodeScores scores = score_episodes(std::vector{one, two}, none_novel);
  EXPECT_NEAR(scores.all.pooled.ap50, 1, scores_near);
}

TEST(EpisodeScores, TheIntervalIsTheBootstrapsOfTheMean) {
  std::vector<ScoredEpisode> episodes;
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    const bool is_half = i % 3 == 0;
    episodes.push_back(is_half ? half
                               : ScoredEpisode{{1}, {truth_of_picture(1, 1)}, {right(1, 1)}});
    values.push_back(
        summarize(evaluate_detections(episodes.back().truths, episodes.back().detections,
                                      episodes.back().categories))
            .ap50);
  }
  const BootstrapOptions options{.resamples = 500, .seed = 9};
  const EpisodeScores scores = score_episodes(episodes, none_novel, options);
  EXPECT_EQ(scores.all.mean.ap50, bootstrap_mean(values, options));
  EXPECT_LT(scores.all.mean.ap50.low, scores.all.mean.ap50.estimate);
  EXPECT_GT(scores.all.mean.ap50.high, scores.all.mean.ap50.estimate);
  EXPECT_NEAR(scores.all.mean.ap50.estimate, (26 + 14 * 0.5) / 40, scores_near);
}

TEST(EpisodeScores, OneEpisodeHasNoInterval) {
  const EpisodeScores scores = score_episodes(std::vector{half}, none_novel);
  EXPECT_TRUE(std::isnan(scores.all.mean.ap50.low));
  EXPECT_TRUE(std::isnan(scores.all.mean.ap50.high));
  EXPECT_FALSE(std::isnan(scores.all.mean.ap50.estimate));
}

TEST(EpisodeScores, EpisodesWithoutAnyTruthAreLeftOut) {
  const ScoredEpisode empty{{1}, {}, {wrong(1, 1)}};
  const EpisodeScores scores = score_episodes(std::vector{half, empty}, none_novel);
  EXPECT_EQ(scores.all.mean.episodes, 1u);
  EXPECT_EQ(scores.episodes[1].ap50, no_score);
  const EpisodeScores nothing = score_episodes(std::vector{empty}, none_novel);
  EXPECT_EQ(nothing.all.mean.episodes, 0u);
  EXPECT_TRUE(std::isnan(nothing.all.mean.ap.low));
  EXPECT_EQ(nothing.novel.pooled.ap, no_score);
}

TEST(EpisodeScores, ErrorsNameTheEpisode) {
  EXPECT_THAT(error_of([] { score_episodes({}, none_novel); }), HasSubstr("no episodes"));
  ScoredEpisode broken = half;
  broken.detections[0].score = std::nan("");
  EXPECT_THAT(error_of([&] {
                score_episodes(std::vector{half, broken}, none_novel);
              }),
              HasSubstr("episode 1: detection 0"));
}

}  // namespace
}  // namespace lockstep::fewshot
