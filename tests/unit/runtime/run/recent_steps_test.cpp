// The rate of the newest steps is that of the time they took, however unevenly they came.
#include "runtime/run/curves/recent_steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

TEST(RecentSteps, KnowNothingBeforeTheFirst) {
  const RecentSteps recent;
  EXPECT_FALSE(recent.step_s());
  EXPECT_EQ(recent.data_share(), 0);
}

// Eight loader threads bring eight steps at once: one waits 0.8 s, seven take 1 ms.
TEST(RecentSteps, AddUpBursts) {
  RecentSteps recent;
  for (int i = 0; i < 400; ++i) {
    const bool waits = i % 8 == 0;
    recent.add(1, waits ? 0.801 : 0.001, waits ? 0.8 : 0);
    if (i < 40) continue;
    EXPECT_NEAR(*recent.step_s(), 0.101, 0.015) << i;
    EXPECT_NEAR(recent.data_share(), 0.8 / 0.808, 0.01) << i;
  }
}

TEST(RecentSteps, LeaveOutTheFirstOnceThereIsAnother) {
  RecentSteps recent;
  recent.add(1, 60);
  EXPECT_EQ(recent.step_s(), 60);
  recent.add(1, 1);
  EXPECT_EQ(recent.step_s(), 1);
  recent.add(1, 3);
  EXPECT_EQ(recent.step_s(), 2);
}

TEST(RecentSteps, FollowAChangeAfterTwentyStepsAndTenSeconds) {
  RecentSteps slow, fast;
  for (int i = 0; i < 100; ++i) slow.add(1, 2);
  for (int i = 0; i < 20; ++i) slow.add(1, 6);
  EXPECT_NEAR(*slow.step_s(), 6, 1e-9);
  for (int i = 0; i < 100000; ++i) fast.add(1, 0.001);
  for (int i = 0; i < 5000; ++i) fast.add(1, 0.002);
  EXPECT_NEAR(*fast.step_s(), 0.002, 1e-5);
}

TEST(RecentSteps, CountTheStepsOfAWindow) {
  RecentSteps recent;
  recent.add(10, 5);
  recent.add(10, 30, 5);
  recent.add(15, 20, 7.5);
  EXPECT_DOUBLE_EQ(*recent.step_s(), 2);
  EXPECT_DOUBLE_EQ(recent.data_share(), 0.25);
}

TEST(RecentSteps, TakeAPartOfAStepForWhatItIs) {
  RecentSteps recent;
  recent.add(1, 9);
  recent.add(1, 1);
  recent.add(0.25, 1);
  EXPECT_DOUBLE_EQ(*recent.step_s(), 1.6);
}

TEST(RecentSteps, IgnoreNumbersThatMakeNoSense) {
  RecentSteps recent;
  recent.add(0, 1);
  recent.add(1, NAN);
  recent.add(1, -1);
  EXPECT_FALSE(recent.step_s());
  recent.add(1, 2, NAN);
  EXPECT_EQ(recent.step_s(), 2);
  EXPECT_EQ(recent.data_share(), 0);
}

}  // namespace
}  // namespace lockstep
