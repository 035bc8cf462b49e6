// What becomes of steps that changed nothing.
#include "training/trainer/loop/dropped_step.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

StepResult step(std::int64_t number, bool dropped, bool not_finite) {
  StepResult result;
  result.step = number;
  result.dropped = dropped;
  result.not_finite = not_finite;
  return result;
}

const BatchPlan batch{.world_size = 2, .micro = 8, .accumulation = 1, .global = 16};

class Dropped : public ::testing::Test {
 protected:
  TrainOptions options;
  DroppedSteps steps{options, /*measure_only=*/false};
};

TEST_F(Dropped, TheFirstCountsAndThoseBehindItAreItsConsequence) {
  steps.hear(step(1, false, false));
  EXPECT_FALSE(steps.any());
  steps.hear(step(2, false, true));
  steps.hear(step(3, true, false));
  ASSERT_TRUE(steps.any());
  const StepResult first = steps.take();
  EXPECT_EQ(first.step, 2);
  EXPECT_TRUE(first.not_finite);
  EXPECT_FALSE(steps.any());
}

TEST_F(Dropped, AreRepeatedInSmallerMicroBatchesAsLongAsThereAreAny) {
  const auto smaller = steps.smaller(batch);
  ASSERT_TRUE(smaller.has_value());
  EXPECT_EQ(smaller->micro, 4);
  EXPECT_EQ(smaller->accumulation, 2);
  EXPECT_EQ(smaller->global, 16);
  BatchPlan one = batch;
  one.micro = 1;
  one.accumulation = 8;
  EXPECT_FALSE(steps.smaller(one).has_value());
}

TEST_F(Dropped, KeepTheMicroBatchWhereItMustNotChange) {
  options.exact = true;
  EXPECT_FALSE(steps.smaller(batch).has_value());
  options.exact = false;
  EXPECT_FALSE(DroppedSteps(options, /*measure_only=*/true).smaller(batch).has_value());
}

TEST_F(Dropped, AreRepeatedOnceWithBlocksComputedAgainWhereThatIsByNeed) {
  EXPECT_FALSE(steps.recomputes_now());
  options.memory.recompute = Recompute::blocks;  // all are already
  EXPECT_FALSE(steps.recomputes_now());
  options.memory.recompute = Recompute::automatic;
  EXPECT_TRUE(steps.recomputes_now());
  EXPECT_FALSE(steps.recomputes_now());
  EXPECT_FALSE(DroppedSteps(options, /*measure_only=*/true).recomputes_now());
}

TEST_F(Dropped, AreLeftOutOnlyIfAskedAndTheWeightsAreGood) {
  EXPECT_FALSE(steps.goes_on_without(false));
  options.on_nan = OnNan::skip;
  EXPECT_TRUE(steps.goes_on_without(false));
  EXPECT_FALSE(steps.goes_on_without(true));
  EXPECT_FALSE(DroppedSteps(options, /*measure_only=*/true).goes_on_without(false));
}

TEST_F(Dropped, EndTheRunWhenTwentyInARowAreNotFinite) {
  options.on_nan = OnNan::skip;
  for (int number = 1; number <= 19; ++number) {
    steps.hear(step(number, false, true));
    steps.take();
  }
  EXPECT_TRUE(steps.goes_on_without(false));
  steps.hear(step(20, true, false));  // memory ran out in between: that is another matter
  steps.take();
  steps.hear(step(20, false, true));
  steps.take();
  EXPECT_FALSE(steps.goes_on_without(false));
  steps.hear(step(21, false, false));
  EXPECT_TRUE(steps.goes_on_without(false));
}

TEST_F(Dropped, KeepAMicroBatchThatTheModelStandsOn) {
  BatchPlan fixed = batch;
  fixed.fixed_micro = true;
  EXPECT_FALSE(steps.smaller(fixed).has_value());
}

}  // namespace
}  // namespace lockstep
