#include "runtime/run/progress/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

class ForecastTest : public ::testing::Test {
 protected:
  ForecastTest() {
    plan.total_steps = 100;
    plan.steps_per_epoch = 20;
    plan.valid_samples = 64;
    plan.evaluation_passes = 64;
    plan.batch.global = 32;
    times = {.parts = {.start_s = 5, .step_s = 2, .evaluation_s = 10, .save_s = 3},
             .run = "a",
             .age_s = 3 * 3600};
  }
  Forecast make(std::int64_t first_step = 0) const {
    return make_forecast(times, plan, options, first_step);
  }
  Plan plan;
  TrainOptions options;
  MeasuredTimes times;
};

TEST_F(ForecastTest, AddsUpTheParts) {
  options.eval.every_steps = 30;
  const Forecast forecast = make();
  EXPECT_EQ(forecast.evaluations, 4) << "after 30, 60, 90, and at the end";
  EXPECT_DOUBLE_EQ(forecast.total_s, 5 + 99 * 2 + 4 * 10 + 3);
  EXPECT_DOUBLE_EQ(forecast.epoch_s, 40);
  EXPECT_EQ(forecast_text(forecast),
            "about 4m6s: 5s to start, 2s a step, 40s an epoch, 4 evaluations of 10s; as in run a, "
            "3h ago");
}

TEST_F(ForecastTest, CountsTheEvaluationsThatAreLeft) {
  options.eval.every_steps = 25;
  options.eval.at_start = true;
  EXPECT_EQ(make().evaluations, 5) << "the one at the end is one of the four";
  EXPECT_EQ(make(50).evaluations, 2);
  EXPECT_EQ(make(50).steps, 50);
  options.eval.every_steps = 0;
  options.eval.every_epochs = 1;
  EXPECT_EQ(make(99).evaluations, 1);
  plan.valid_samples = 0;
  EXPECT_EQ(make().evaluations, 0);
}

TEST_F(ForecastTest, AnEvaluationThatWasNotMeasuredIsForwardAlone) {
  times.parts.evaluation_s = 0;
  EXPECT_NEAR(make().from.parts.evaluation_s, 4.0 / 3, 1e-9) << "of two steps' samples";
}

TEST_F(ForecastTest, SaysWhetherItFitsIntoTheQuota) {
  options.eval.every_steps = 50;
  const auto text = [&] { return quota_text(make(), options, {}, plan.total_steps); };
  EXPECT_EQ(text(), "") << "there is none";
  options.stop.after = {300};
  EXPECT_EQ(text(), "fits into stop.after = 5m: 1m14s are left");
  options.stop.reserve = {60};
  options.stop.budget = {200};
  EXPECT_EQ(
      text(),
      "does not fit into stop.budget = 3m20s less 1m, where it comes to about step 60 of 100");
}

TEST_F(ForecastTest, CountsWhatEarlierStartsHaveUsedOfTheBudget) {
  options.eval.every_steps = 50;
  options.stop.budget = {200};
  const auto text = [&] {
    return quota_text(make(50), options, {.step = 50, .spent_s = 60}, plan.total_steps);
  };
  EXPECT_EQ(text(), "fits into stop.budget = 3m20s (1m used): 24s are left");
  options.stop.after = {130};
  EXPECT_EQ(text(), "fits into stop.after = 2m10s: 14s are left");
}

TEST_F(ForecastTest, SaysThatNothingOfTheBudgetIsLeft) {
  options.stop.budget = {12};
  EXPECT_EQ(spent_budget_text(options, 0, 20), "") << "of a first start";
  EXPECT_EQ(spent_budget_text(options, 9, 2), "");
  EXPECT_EQ(spent_budget_text(options, 11, 2),
            "nothing of stop.budget = 12s is left to train: earlier starts used 11s; to go "
            "further, set a larger one, such as stop.budget=24s");
  options.stop.reserve = {5};
  EXPECT_NE(spent_budget_text(options, 9, 2), "") << "but for what is kept";
}

TEST_F(ForecastTest, ABudgetIsRaisedByHalfOfItAtLeast) {
  options.stop.budget = {12};
  EXPECT_EQ(raised_budget(options, 5), "stop.budget=24s") << "the rest is kept for what follows";
  EXPECT_EQ(raised_budget(options, 12.01), "stop.budget=24s");
  EXPECT_EQ(raised_budget(options, 18.1), "stop.budget=36s");
  EXPECT_EQ(raised_budget(options, 31), "stop.budget=48s");
}

TEST_F(ForecastTest, ByPeaksGoesByTheStepThatIsEstimated) {
  plan.batch.world_size = 2;
  const StepEstimate step{
      .devices = 2, .arithmetic_one_s = 3.2, .arithmetic_s = 1.6, .sample_s = 0.1, .exchange_s = 4};
  const MeasuredTimes peaks = times_by_peaks(plan, step);
  EXPECT_DOUBLE_EQ(peaks.parts.step_s, step.step_s());
  EXPECT_NEAR(peaks.parts.evaluation_s, 32 * 0.1 / 3, 1e-9) << "half of the samples, forward alone";
  EXPECT_EQ(peaks.parts.start_s, 20);
  EXPECT_EQ(times_by_peaks(plan, step, 7).parts.start_s, 7) << "as an earlier run began";
  const Forecast forecast = make_forecast(peaks, plan, options);
  EXPECT_EQ(forecast.off_by(), 3);
  EXPECT_NE(forecast_text(forecast).find("peaks, so it may be off by 3 times"), std::string::npos);
  EXPECT_NE(forecast_text(forecast).find(": 20s to start, "), std::string::npos);
  EXPECT_EQ(to_json(forecast).at("source"), "peaks");
}

// Three volumes of 75 tiles, each turned eight times, on two devices: one of them has two.
TEST_F(ForecastTest, AnEvaluationTakesAllOfItsPasses) {
  plan.valid_samples = 3;
  plan.evaluation_passes = 3 * 75 * 8;
  const StepEstimate step{.devices = 2, .sample_s = 0.03};
  EXPECT_NEAR(times_by_peaks(plan, step).parts.evaluation_s, 2 * 75 * 8 * 0.01, 1e-9);
  times.parts.evaluation_s = 0;
  EXPECT_NEAR(make().from.parts.evaluation_s, 3 * 75 * 8 / 32.0 * 2 / 3, 1e-9);
}

TEST_F(ForecastTest, SaysThatATrialsStepsScattered) {
  times.source = TimeSource::trial;
  times.fast_step_s = 1.9;
  times.slow_step_s = 2.2;
  EXPECT_NE(forecast_text(make()).find("; may be off by a third"), std::string::npos);
  times.fast_step_s = 0.2;
  EXPECT_THAT(forecast_text(make()),
              ::testing::EndsWith("from a trial 3h ago, whose steps took from 0.2s to 2.2s: try "
                                  "again when nothing else runs here"));
  EXPECT_NEAR(make().off_by(), 11, 1e-9);
  EXPECT_EQ(to_json(make()).at("steps_scatter"), true);
}

TEST_F(ForecastTest, SaysWhatAnEvaluationNeedsThatDoesNotFit) {
  times.parts.evaluation_s = 500;
  options.eval.every_steps = 50;
  options.stop.after = {300};
  EXPECT_EQ(quota_text(make(), options, {}, plan.total_steps),
            "does not fit into stop.after = 5m, where it comes to about step 100 of 100; no "
            "evaluation fits, which takes 8m20s");
}

TEST_F(ForecastTest, SecondsAreShownAsPeopleReadThem) {
  EXPECT_EQ(format_seconds(0.0123), "12.3ms");
  EXPECT_EQ(format_seconds(0.312), "0.31s");
  EXPECT_EQ(format_seconds(14.24), "14.2s");
  EXPECT_EQ(format_seconds(320), "5m20s");
}

}  // namespace
}  // namespace lockstep
