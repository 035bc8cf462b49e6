#include "runtime/run/progress/run_times.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

void hear(RunTimes& times, const std::vector<nlohmann::json>& events) {
  for (const nlohmann::json& event : events) times.on_event(event);
}

TEST(RunTimesTest, TheFirstStepIsPartOfTheStart) {
  RunTimes times;
  hear(times, {{{"kind", "start"}, {"step", 0}, {"time", 100}},
               {{"kind", "startup"}, {"step", 1}, {"time", 103}, {"seconds", 7}},
               {{"kind", "step"}, {"step", 10}, {"step_s", 0.75}},  // 3 s, and nine of 0.5 s
               {{"kind", "step"}, {"step", 20}, {"step_s", 0.5}}});
  EXPECT_DOUBLE_EQ(times.mean().start_s, 7);
  EXPECT_DOUBLE_EQ(times.mean().step_s, 0.5);
  EXPECT_EQ(times.mean().evaluation_s, 0);
  EXPECT_EQ(times.mean().save_s, 0);
}

TEST(RunTimesTest, WhatHappensOnceIsNoPartOfAStepOrAnEvaluation) {
  RunTimes times;
  hear(times, {{{"kind", "start"}, {"step", 0}, {"time", 100}},
               {{"kind", "eval"}, {"step", 0}, {"seconds", 12}, {"warm_up_s", 2}},  // at the start
               {{"kind", "startup"}, {"step", 1}, {"time", 115}, {"seconds", 20}},
               {{"kind", "graph"}, {"step", 4}, {"seconds", 2}},
               {{"kind", "step"}, {"step", 6}, {"step_s", 10.0 / 6}},  // 3 s, 2 s, five of 1 s
               {{"kind", "eval"}, {"step", 6}, {"seconds", 10}, {"warm_up_s", 0}},
               {{"kind", "checkpoint"}, {"step", 6}, {"seconds", 3}},
               {{"kind", "checkpoint"}, {"step", 8}, {"seconds", 5}}});
  EXPECT_DOUBLE_EQ(times.mean().step_s, 1);
  EXPECT_DOUBLE_EQ(times.mean().evaluation_s, 10);
  EXPECT_DOUBLE_EQ(times.mean().save_s, 4);
}

TEST(RunTimesTest, OneStepAloneTellsNothing) {
  RunTimes times;
  hear(times, {{{"kind", "start"}, {"step", 4}, {"time", 100}},
               {{"kind", "startup"}, {"step", 5}, {"time", 103}, {"seconds", 7}},
               {{"kind", "step"}, {"step", 5}, {"step_s", 3}}});
  EXPECT_EQ(times.mean().step_s, 0);
}

TEST(RunTimesTest, AnEvaluationThatWasGivenUpCountsUntilThereIsAnother) {
  RunTimes times;
  hear(times, {{{"kind", "evaluation_given_up"}, {"expected_s", 30}, {"limit_s", 5}}});
  EXPECT_EQ(times.mean().evaluation_s, 30);
  hear(times, {{{"kind", "eval"}, {"seconds", 20}, {"warm_up_s", 0}}});
  EXPECT_EQ(times.mean().evaluation_s, 20);
  hear(times, {{{"kind", "start"}, {"step", 0}}});
  EXPECT_EQ(times.mean().evaluation_s, 0) << "another start";
}

}  // namespace
}  // namespace lockstep
