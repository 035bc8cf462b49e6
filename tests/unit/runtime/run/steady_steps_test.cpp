// What a trial of ten seconds says of a step, whatever else happens in these ten seconds.
#include "runtime/run/curves/steady_steps.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

class SteadyStepsTest : public ::testing::Test {
 protected:
  SteadyStepsTest() {
    steps.on_event({{"kind", "start"}, {"step", 0}});
    hear(9);  // the first step, with all that is loaded in it
  }
  void hear(double seconds, int count = 1) {
    for (int i = 0; i < count; ++i) steps.on_event({{"kind", "step"}, {"step_s", seconds}});
  }
  SteadySteps steps;
};

TEST_F(SteadyStepsTest, KnowsNothingOfOneStep) { EXPECT_EQ(steps.range().typical_s, 0); }

// A pause of two seconds among steps of 5 ms; a mean would say 14 ms.
TEST_F(SteadyStepsTest, APauseCountsNothing) {
  hear(0.005, 100);
  hear(2);
  hear(0.005, 100);
  EXPECT_NEAR(steps.range().typical_s, 0.005, 1e-9);
  EXPECT_NEAR(steps.range().slow_s, 0.005, 1e-9);
}

TEST_F(SteadyStepsTest, WhatComesBackCounts) {
  for (int i = 0; i < 200; ++i) {
    hear(0.005, 3);
    hear(0.085);  // for data
  }
  EXPECT_NEAR(steps.range().typical_s, 0.025, 1e-3);
}

TEST_F(SteadyStepsTest, StepsUntilAGraphIsCapturedCountNothing) {
  hear(1, 3);
  steps.on_event({{"kind", "graph"}, {"seconds", 4}});
  hear(1);
  hear(4);
  EXPECT_NEAR(steps.range().typical_s, 1, 1e-9) << "nothing else is known";
  hear(0.1, 6);
  EXPECT_NEAR(steps.range().typical_s, 0.1, 1e-9);
}

TEST_F(SteadyStepsTest, TellsHowFarTheyScatter) {
  for (int i = 0; i < 5; ++i) {
    hear(0.1);
    hear(1.5);
  }
  EXPECT_NEAR(steps.range().fast_s, 0.1, 1e-9);
  EXPECT_NEAR(steps.range().slow_s, 1.5, 1e-9);
}

TEST_F(SteadyStepsTest, AnotherStartForgetsTheOneBefore) {
  hear(1, 10);
  steps.on_event({{"kind", "start"}, {"step", 0}});
  EXPECT_EQ(steps.range().typical_s, 0);
}

}  // namespace
}  // namespace lockstep
