#include "runtime/run/curves/loss_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lockstep {
namespace {

TEST(LossRange, TellsASpikeOnceWithTheRangeBeforeIt) {
  LossRange range;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(range.add(2.5 + 0.1 * (i % 2)));
  EXPECT_FALSE(range.add(2.75));
  const auto spike = range.add(3.3);
  ASSERT_TRUE(spike);
  EXPECT_DOUBLE_EQ(spike->low, 2.5);
  EXPECT_DOUBLE_EQ(spike->high, 2.75);
  EXPECT_FALSE(range.add(9.0));  // the same spike
  EXPECT_FALSE(range.add(2.6));  // over
  EXPECT_TRUE(range.add(3.9));
}

TEST(LossRange, ALevelThatStaysIsToldOnceAndBecomesTheRange) {
  LossRange range;
  int told = 0;
  for (int i = 0; i < 60; ++i) told += range.add(1 + 0.01 * (i % 3)) ? 1 : 0;
  for (int i = 0; i < 500; ++i) told += range.add(5 + 0.01 * (i % 3)) ? 1 : 0;
  EXPECT_EQ(told, 1);
}

TEST(LossRange, SaysNothingOfTheFirstStepsOfNoiseOrOfLossesThatAreNotFinite) {
  LossRange range;
  EXPECT_FALSE(range.add(0.1));
  EXPECT_FALSE(range.add(100));  // no range yet
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.2);
  std::exponential_distribution<double> tail(1);
  for (int i = 0; i < 20000; ++i)
    EXPECT_FALSE(range.add(3 * std::exp(-i / 5000.0) + noise(random) * 0.1)) << i;
  LossRange heavy;
  int told = 0;
  for (int i = 0; i < 20000; ++i) told += heavy.add(tail(random)) ? 1 : 0;
  EXPECT_LE(told, 2);
  EXPECT_FALSE(range.add(NAN));
  EXPECT_FALSE(range.add(INFINITY));
}

}  // namespace
}  // namespace lockstep
