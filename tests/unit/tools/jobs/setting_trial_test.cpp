#include "tools/jobs/search/setting_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using End = TrialTimer::End;

SettingTrial trial_of(std::int64_t done, double seconds, double noise) {
  return {.setting = {}, .seconds = seconds, .done = done, .noise = noise};
}

TEST(SettingTrial, IsClearlyFasterOnlyBeyondTheNoiseOfBoth) {
  const SettingTrial first = trial_of(100, 60, 0.04);
  EXPECT_TRUE(is_clearly_faster(trial_of(130, 60, 0.03), first));
  EXPECT_FALSE(is_clearly_faster(trial_of(109, 60, 0.03), first)) << "two standard errors are 10 %";
  EXPECT_TRUE(is_clearly_faster(trial_of(104, 60, 0), trial_of(100, 60, 0)));
  EXPECT_FALSE(is_clearly_faster(trial_of(102, 60, 0), trial_of(100, 60, 0))) << "less than 3 %";
}

TEST(TrialTimer, CountsFromWhereOnlyItsOwnJobsRun) {
  TrialTimer timer({.at_once = 2}, {.jobs = 4, .at_once = 2});
  timer.ended(End::done, 8, 10, 5);  // while others still ran
  timer.begin(11);
  timer.begin(99);
  for (const double at : {12.0, 12.5, 13.0}) timer.ended(End::done, at - 1, at, 7);
  EXPECT_FALSE(timer.is_over());
  timer.ended(End::done, 12.5, 13.5, 3);
  ASSERT_TRUE(timer.is_over());
  const SettingTrial trial = timer.result();
  EXPECT_EQ(trial.done, 4);
  EXPECT_EQ(trial.seconds, 2.5);
  EXPECT_EQ(trial.per_minute(), 96);
  EXPECT_DOUBLE_EQ(trial.together, (1 + 1 + 1 + 1) / 2.5);
  EXPECT_EQ(trial.noise, 0) << "they took equally long";
  EXPECT_EQ(trial.job_bytes, 7);
}

// At the first of several that end together it would look slower than it is.
TEST(TrialTimer, EndsAfterWholeRoundsAndNotBeforeItsLeastTime) {
  TrialTimer timer({.at_once = 3}, {.jobs = 6, .at_once = 3, .seconds = 3});
  timer.begin(0);
  int rounds = 0;
  while (!timer.is_over()) {
    ++rounds;
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(timer.is_over());
      timer.ended(End::done, rounds - 1, rounds, 0);
    }
  }
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(timer.result().per_minute(), 180);
  EXPECT_EQ(timer.result().together, 3);
}

TEST(TrialTimer, JobsThatLoadDoNotCount) {
  TrialTimer timer({.at_once = 2}, {.jobs = 4, .at_once = 2, .to_load = 2});
  timer.begin(0);
  timer.ended(End::done, 0, 10, 0);
  EXPECT_FALSE(timer.counts());
  timer.ended(End::done, 0, 11, 0);
  EXPECT_TRUE(timer.counts());
  for (int i = 1; i <= 2; ++i)
    for (int each = 0; each < 2; ++each) timer.ended(End::done, 10 + i, 11 + i, 0);
  EXPECT_TRUE(timer.is_over());
  EXPECT_EQ(timer.result().seconds, 2);
}

TEST(TrialTimer, EndsWhereMemoryRunsOutOrNothingIsDone) {
  TrialTimer full({.at_once = 2}, {.jobs = 4, .at_once = 2});
  full.begin(0);
  full.ended(End::out_of_memory, 0, 1, 0);
  EXPECT_TRUE(full.is_over());
  EXPECT_TRUE(full.result().out_of_memory);
  TrialTimer failing({.at_once = 2}, {.jobs = 4, .at_once = 2});
  failing.begin(0);
  for (int i = 1; i <= 12; ++i) {
    EXPECT_FALSE(failing.is_over());
    failing.ended(End::failed, i - 1, i, 0);
  }
  EXPECT_TRUE(failing.is_over());
  EXPECT_EQ(failing.result().failed, 12);
  EXPECT_EQ(failing.result().per_minute(), 0);
}

TEST(TrialTimer, NoiseIsTheStandardErrorOfWhatJobsTook) {
  TrialTimer timer({}, {.jobs = 4});
  timer.begin(0);
  double now = 0;
  for (const double took : {1.0, 3.0, 1.0, 3.0}) {
    timer.ended(End::done, now, now + took, 0);
    now += took;
  }
  EXPECT_NEAR(timer.result().noise, 1.1547 / 2 / 2, 1e-4);
}

}  // namespace
}  // namespace lockstep
