// The mean of a start's steps leaves out what happens once.
#include "runtime/run/curves/mean_step.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(MeanStep, LeavesOutTheFirstWindow) {
  MeanStep mean;
  EXPECT_FALSE(mean.seconds());
  mean.add(1, 30);
  mean.add(10, 5);
  mean.add(30, 3);
  EXPECT_DOUBLE_EQ(*mean.seconds(), 8.0 / 40);
}

TEST(MeanStep, TakesTheFirstWindowWhereThereIsNoOther) {
  MeanStep mean;
  mean.add(0, 1);
  mean.add(4, 2);
  EXPECT_DOUBLE_EQ(*mean.seconds(), 0.5);
}

}  // namespace
}  // namespace lockstep
