// Choosing the next token: exact cases of every option.
#include "recipes/textgen/model/generation/sampler.h"

#include "core/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace lockstep::textgen {
namespace {

using Logits = std::vector<float>;
const std::vector<std::int64_t> nothing;

Logits logs(const std::vector<double>& probabilities) {
  Logits logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

void expect_candidates(const std::vector<Candidate>& found, const std::vector<Candidate>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].token, wanted[i].token) << i;
    EXPECT_NEAR(found[i].probability, wanted[i].probability, 1e-6) << i;
  }
}

TEST(Sampler, SortsTheSoftmax) {
  expect_candidates(candidates(logs({0.1, 0.6, 0.3}), nothing, {}), {{1, 0.6}, {2, 0.3}, {0, 0.1}});
}

TEST(Sampler, DividesByTheTemperature) {
  // Temperature 1/2 squares the odds: 0.01, 0.36, 0.09 of 0.46.
  expect_candidates(candidates(logs({0.1, 0.6, 0.3}), nothing, {.temperature = 0.5}),
                    {{1, 0.36 / 0.46}, {2, 0.09 / 0.46}, {0, 0.01 / 0.46}});
}

TEST(Sampler, TakesTheMostLikelyTokenAtTemperatureZero) {
  const SamplerOptions greedy{.temperature = 0, .top_k = 3, .top_p = 0.5};
  expect_candidates(candidates(logs({0.1, 0.3, 0.6}), nothing, greedy), {{2, 1}});
}

TEST(Sampler, PrefersTheLowerTokenAmongEquals) {
  const Logits equal = {1, 2, 2, 2};
  expect_candidates(candidates(equal, nothing, {.temperature = 0}), {{1, 1}});
  expect_candidates(candidates(equal, nothing, {.top_k = 2}), {{1, 0.5}, {2, 0.5}});
}

TEST(Sampler, KeepsTheKMostLikely) {
  expect_candidates(candidates(logs({0.1, 0.4, 0.2, 0.3}), nothing, {.top_k = 2}),
                    {{1, 4.0 / 7}, {3, 3.0 / 7}});
  EXPECT_EQ(candidates(logs({0.5, 0.5}), nothing, {.top_k = 9}).size(), 2);
}

TEST(Sampler, KeepsTheTokenThatCrossesTheShare) {
  const Logits logits = logs({0.05, 0.5, 0.15, 0.3});
  expect_candidates(candidates(logits, nothing, {.top_p = 0.4}), {{1, 1}});
  expect_candidates(candidates(logits, nothing, {.top_p = 0.6}), {{1, 0.625}, {3, 0.375}});
  EXPECT_EQ(candidates(logits, nothing, {.top_p = 0.97}).size(), 4);
  EXPECT_EQ(candidates(logits, nothing, {.top_p = 1e-9}).size(), 1);
}

TEST(Sampler, CutsToTheShareOfWhatTopKLeft) {
  // Of {0.5, 0.3} the first holds 0.625.
  const Logits logits = logs({0.05, 0.5, 0.15, 0.3});
  expect_candidates(candidates(logits, nothing, {.top_k = 2, .top_p = 0.62}), {{1, 1}});
}

TEST(Sampler, PenalisesTokensThatOccurredOnce) {
  const Logits logits = {2, -1, 0.5};
  const std::vector<std::int64_t> history = {0, 1, 0, 0};
  const double a = std::exp(1.0), b = std::exp(-2.0), c = std::exp(0.5);
  expect_candidates(candidates(logits, history, {.repetition_penalty = 2}),
                    {{0, a / (a + b + c)}, {2, c / (a + b + c)}, {1, b / (a + b + c)}});
}

TEST(Sampler, IgnoresHistoryOutsideTheLogits) {
  const std::vector<std::int64_t> history = {-1, 3, 1000};
  EXPECT_EQ(candidates(Logits{1, 2, 3}, history, {.repetition_penalty = 2}),
            candidates(Logits{1, 2, 3}, nothing, {}));
}

TEST(Sampler, NeverDrawsTokensWithoutProbability) {
  constexpr float none = -std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_candidates(candidates(Logits{none, 1, nan, 1}, nothing, {}), {{1, 0.5}, {3, 0.5}});
  EXPECT_THROW(candidates(Logits{none, nan}, nothing, {}), Error);
}

TEST(Sampler, SurvivesHugeLogits) {
  constexpr float huge = std::numeric_limits<float>::infinity();
  expect_candidates(candidates(Logits{huge, 1, huge}, nothing, {.top_k = 2}), {{0, 0.5}, {2, 0.5}});
  expect_candidates(candidates(Logits{3e38F, -3e38F}, nothing, {.temperature = 1e-3, .top_k = 1}),
                    {{0, 1}});
}

TEST(Pick, TakesTheCandidateThatTheDrawFallsInto) {
  const std::vector<Candidate> three = {{7, 0.5}, {3, 0.25}, {9, 0.25}};
  EXPECT_EQ(pick(three, 0), 7);
  EXPECT_EQ(pick(three, 0.4999), 7);
  EXPECT_EQ(pick(three, 0.5), 3);
  EXPECT_EQ(pick(three, 0.75), 9);
  EXPECT_EQ(pick(std::vector<Candidate>{{7, 0.3}, {3, 0.3}}, 0.9999), 3);
}

TEST(Sampler, DrawsWithTheirProbabilities) {
  const Logits logits = logs({0.1, 0.6, 0.3});
  std::map<std::int64_t, int> seen;
  constexpr int draws = 20000;
  for (int i = 0; i < draws; ++i) ++seen[sample_token(logits, nothing, {}, 1, 0, i)];
  EXPECT_NEAR(seen[0], 0.1 * draws, 4 * std::sqrt(0.09 * draws));
  EXPECT_NEAR(seen[1], 0.6 * draws, 4 * std::sqrt(0.24 * draws));
  EXPECT_NEAR(seen[2], 0.3 * draws, 4 * std::sqrt(0.21 * draws));
}

TEST(Sampler, IsAFunctionOfSeedSequenceAndPosition) {
  const Logits logits(1000, 0.0F);
  const auto draw = [&](int seed, int sequence, int position) {
    return sample_token(logits, nothing, {}, seed, sequence, position);
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  int same = 0;
  for (int i = 0; i < 100; ++i)
    same += (draw(1, 0, i) == draw(2, 0, i)) + (draw(1, 0, i) == draw(1, 1, i)) +
            (draw(1, 0, i) == draw(1, 0, i + 1));
  EXPECT_LT(same, 10);
}

}  // namespace
}  // namespace lockstep::textgen
