// Messages about the end of a run name the option that decides it.
#include "planning/options/run_length.h"

#include "plan_fixtures.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

class LengthOfRun : public ::testing::Test {
 protected:
  LengthOfRun() {
    options.precision = Precision::fp32;
    options.batch.global = 100;  // 10 steps an epoch
  }
  RunLength at(std::int64_t step) const {
    return run_length(make_plan(options, text_facts(), {}, gpus(1)), options, recipe, step);
  }

  TrainOptions options;
  OptionTable recipe;
  std::int64_t episodes = 1000;  // as many as an epoch has samples
};

TEST_F(LengthOfRun, StepsAndEpochsEndItByTheirOwnNames) {
  options.stop.steps = 30;
  EXPECT_EQ(at(30).ended_by, "stop.steps=30");
  EXPECT_EQ(at(40).longer, "set stop.steps to more than 40");
  options.stop.steps = 0;
  options.stop.epochs = 1.5;
  EXPECT_EQ(at(15).ended_by, "stop.epochs=1.5");
  EXPECT_EQ(at(20).longer, "set stop.epochs to more than 2");
  EXPECT_EQ(at(31).longer, "set stop.epochs to 4 or more");
}

TEST_F(LengthOfRun, OfARecipeIsInItsOwnOption) {
  recipe.add("stop.episodes", episodes, {.meaning = "for a test"});
  options.stop.epochs = 1;
  options.stop.steps = 25;
  EXPECT_EQ(at(10).ended_by, "stop.episodes=1000");
  EXPECT_EQ(at(10).longer, "set stop.episodes to more than 1000");
  // Beyond both limits, both must rise.
  EXPECT_EQ(at(30).longer, "set stop.episodes to more than 3000 and stop.steps to more than 30");
  options.stop.epochs = 3;
  EXPECT_EQ(at(25).ended_by, "stop.steps=25");
  EXPECT_EQ(at(25).longer, "set stop.steps to more than 25");
}

}  // namespace
}  // namespace lockstep
