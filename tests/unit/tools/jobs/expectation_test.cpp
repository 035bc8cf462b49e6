// --expect of a batch.
#include "tools/jobs/search/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace lockstep {
namespace {

BatchOutcome outcome_of(std::vector<std::optional<double>> activities, std::int64_t failed = 0,
                        std::int64_t total = 0) {
  BatchOutcome outcome{.gpus = {}, .failed = failed, .total = total};
  for (std::size_t i = 0; i < activities.size(); ++i)
    outcome.gpus.push_back({.index = static_cast<int>(i),
                            .busy_percent = activities[i],
                            .sm_percent = std::nullopt,
                            .samples = activities[i] ? 9 : 0});
  return outcome;
}

std::string answer(const char* text, const BatchOutcome& outcome) {
  const Expectation::Answer answer = Expectation(text).answer(outcome);
  EXPECT_EQ(answer.met, answer.text.ends_with(": met")) << answer.text;
  return answer.text;
}

TEST(Expectation, EachGpuMustMeetIt) {
  EXPECT_EQ(answer("gpu_activity>=40%", outcome_of({52.04, 40.0})),
            "gpu_activity>=40%: GPU 0 52.0 %, GPU 1 40.0 %: met");
  EXPECT_EQ(answer("gpu_activity >= 40", outcome_of({52.0, 0.0})),
            "gpu_activity >= 40: GPU 0 52.0 %, GPU 1 0.0 %: not met by GPU 1");
  EXPECT_EQ(answer("gpu_activity<=60%", outcome_of({70.0, 80.0})),
            "gpu_activity<=60%: GPU 0 70.0 %, GPU 1 80.0 %: not met by GPU 0, GPU 1");
}

TEST(Expectation, WhatWasNotMeasuredDoesNotMeetIt) {
  EXPECT_EQ(answer("gpu_activity>=0%", outcome_of({52.0, std::nullopt})),
            "gpu_activity>=0%: GPU 0 52.0 %, GPU 1 not measured: not met by GPU 1");
  EXPECT_EQ(answer("gpu_activity<=60%", outcome_of({})),
            "gpu_activity<=60%: no GPU was measured: not met");
  EXPECT_EQ(answer("sm_activity>=1%", outcome_of({52.0})),
            "sm_activity>=1%: GPU 0 not measured: not met by GPU 0");
}

TEST(Expectation, FailuresAreAShareOrANumber) {
  EXPECT_EQ(answer("failed<=15%", outcome_of({}, 3, 20)), "failed<=15%: 3 of 20 jobs, 15.0 %: met");
  EXPECT_EQ(answer("failed<=15%", outcome_of({}, 4, 20)),
            "failed<=15%: 4 of 20 jobs, 20.0 %: not met");
  EXPECT_EQ(answer("failed<=3", outcome_of({}, 4, 20)), "failed<=3: 4 of 20 jobs, 20.0 %: not met");
  EXPECT_EQ(answer("failed<=0", outcome_of({}, 0, 1)), "failed<=0: 0 of 1 job, 0.0 %: met");
}

TEST(Expectation, AShortfallIsThatOfTheGpuThatMissesItMost) {
  const Expectation least("gpu_activity>=40%"), most("gpu_activity<=60%");
  EXPECT_EQ(least.shortfall(outcome_of({52.0, 30.0, 38.0})), 10);
  EXPECT_EQ(least.shortfall(outcome_of({52.0, 40.0})), 0);
  EXPECT_EQ(most.shortfall(outcome_of({70.0, 50.0})), 10);
  EXPECT_EQ(least.shortfall(outcome_of({52.0, std::nullopt})), 100) << "not measured";
  EXPECT_EQ(least.shortfall(outcome_of({})), 100);
  EXPECT_EQ(Expectation("failed<=15%").shortfall(outcome_of({}, 4, 20)), 5);
  EXPECT_TRUE(Expectation("failed<=15%").is_of_parts());
  EXPECT_FALSE(Expectation("failed<=3").is_of_parts());
}

TEST(Expectation, RefusesWhatItCannotRead) {
  for (const char* const text :
       {"", "failed", "failed=3", "failed<3", "failed<=", "failed<=x", "failed<=-1", "failed<=101%",
        "gpu_activity>=101", "done>=3", "gpu>=40%", "<=3", "failed<=3 jobs"})
    EXPECT_THROW(Expectation{text}, Error) << text;
}

}  // namespace
}  // namespace lockstep
