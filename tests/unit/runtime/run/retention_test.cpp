// Which checkpoints are kept: properties over many random histories.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "runtime/run/checkpoint/retention.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;

std::vector<CheckpointInfo> history(const std::vector<double>& times,
                                    const std::vector<double>& losses = {}) {
  std::vector<CheckpointInfo> all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    CheckpointInfo info{.path = {},
                        .step = static_cast<std::int64_t>(i),
                        .time = times[i],
                        .metrics = nullptr,
                        .damage = {}};
    if (i < losses.size()) info.metrics = {{"loss", losses[i]}};
    all.push_back(info);
  }
  return all;
}

std::vector<CheckpointInfo> kept(std::vector<CheckpointInfo> all, const Retention& rule) {
  std::set<std::int64_t> gone;
  for (const CheckpointInfo& info : to_delete(all, rule)) gone.insert(info.step);
  std::erase_if(all, [&](const CheckpointInfo& info) { return gone.count(info.step) > 0; });
  return all;
}

std::vector<std::int64_t> steps(const std::vector<CheckpointInfo>& all) {
  std::vector<std::int64_t> steps;
  for (const CheckpointInfo& info : all) steps.push_back(info.step);
  return steps;
}

TEST(Retention, KeepsTheNewest) {
  EXPECT_THAT(steps(kept(history({0, 1, 2, 3, 4, 5}), {.keep = 2})), ElementsAre(4, 5));
  EXPECT_THAT(steps(kept(history({0, 1}), {.keep = 4})), ElementsAre(0, 1));
  EXPECT_TRUE(to_delete({}, {}).empty());
}

TEST(Retention, NeverDeletesTheNewest) {
  for (std::int64_t keep : {-5L, 0L, 1L})
    EXPECT_THAT(steps(kept(history({0, 1, 2}), {.keep = keep})), ElementsAre(2));
}

TEST(Retention, KeepsTheBestOfEitherDirection) {
  const auto all = history({0, 1, 2, 3}, {2, 1, 5, 3});
  Retention rule{.keep = 1, .best_metric = "loss"};
  EXPECT_THAT(steps(kept(all, rule)), ElementsAre(1, 3));
  rule.lower_is_better = false;
  EXPECT_THAT(steps(kept(all, rule)), ElementsAre(2, 3));
}

TEST(Retention, MetricsThatAreMissingOrNotNumbersAreNeverTheBest) {
  auto all = history({0, 1, 2, 3, 4}, {NAN, 7, 9});
  all[3].metrics = {{"loss", "low"}};
  EXPECT_THAT(steps(kept(all, {.keep = 1, .best_metric = "loss"})), ElementsAre(1, 4));
  EXPECT_THAT(steps(kept(all, {.keep = 1, .best_metric = "other"})), ElementsAre(4));
}

TEST(Retention, KeepsOneEachTime) {
  EXPECT_THAT(
      steps(kept(history({0, 10, 20, 30, 40, 55, 60, 70}), {.keep = 1, .keep_every_s = 25})),
      ElementsAre(0, 3, 5, 7));
}

TEST(Retention, AClockThatWasSetBackDoesNotStopTheSeries) {
  EXPECT_THAT(steps(kept(history({1000, 1010, 0, 10, 100}), {.keep = 1, .keep_every_s = 50})),
              ElementsAre(0, 2, 4));
}

TEST(Retention, DamagedOnesNeitherCountNorAreDeleted) {
  auto all = history({0, 1, 2, 3});
  all[1].damage = all[3].damage = "torn";
  EXPECT_THAT(steps(kept(all, {.keep = 1})), ElementsAre(1, 2, 3));
}

TEST(Retention, HoldsItsPropertiesOverRandomHistories) {
  std::mt19937 random(12);
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> times, losses;
    double time = 0;
    for (std::size_t i = random() % 30; i-- > 0;) {
      times.push_back(time += random() % 100);
      losses.push_back(random() % 10);
    }
    const Retention rule{.keep = static_cast<std::int64_t>(random() % 6),
                         .keep_every_s = random() % 2 ? static_cast<double>(random() % 200) : 0,
                         .best_metric = random() % 2 ? "loss" : "",
                         .lower_is_better = random() % 2 == 0};
    const auto all = history(times, losses);
    const auto left = kept(all, rule);
    // The newest N are all there.
    const std::size_t newest =
        std::min<std::size_t>(all.size(), std::max<std::int64_t>(1, rule.keep));
    ASSERT_GE(left.size(), newest);
    for (std::size_t i = 0; i < newest; ++i)
      ASSERT_EQ(left[left.size() - 1 - i].step, all[all.size() - 1 - i].step);
    // Again: nothing more goes.
    EXPECT_TRUE(to_delete(left, rule).empty());
    // One of the best is there.
    if (!rule.best_metric.empty() && !all.empty()) {
      const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
      const double best = rule.lower_is_better ? *low : *high;
      EXPECT_TRUE(std::any_of(left.begin(), left.end(),
                              [&](const auto& info) { return info.metrics["loss"] == best; }));
    }
    // No deleted one is further than the period from one that was kept before it.
    if (rule.keep_every_s > 0)
      for (const CheckpointInfo& gone : to_delete(all, rule))
        EXPECT_TRUE(std::any_of(left.begin(), left.end(), [&](const auto& info) {
          return info.step < gone.step && gone.time - info.time < rule.keep_every_s;
        }));
    else
      EXPECT_LE(left.size(), newest + 1);
  }
}

// Applied after every checkpoint, as a run does, the series has the same spacing as all at once.
TEST(Retention, AppliedAsItGoesKeepsTheSameSeries) {
  std::mt19937 random(13);
  for (int round = 0; round < 100; ++round) {
    const Retention rule{.keep = 2, .keep_every_s = 100};
    std::vector<double> times;
    double time = 0;
    std::vector<CheckpointInfo> left;
    for (int i = 0; i < 40; ++i) {
      times.push_back(time += 1 + random() % 60);
      left.push_back(history(times).back());
      left = kept(left, rule);
    }
    EXPECT_EQ(steps(left), steps(kept(history(times), rule)));
  }
}

}  // namespace
}  // namespace lockstep
