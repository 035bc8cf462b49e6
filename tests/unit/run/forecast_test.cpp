#include "run/forecast.h"

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
            "about 4m6s: 2s a step, 40s an epoch, 4 evaluations of 10s; as in run a, 3h ago");
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
  const auto text = [&] { return quota_text(make(), options, 0, plan.total_steps); };
  EXPECT_EQ(text(), "") << "there is none";
  options.stop.after = {300};
  EXPECT_EQ(text(), "fits into stop.after = 5m: 1m14s are left");
  options.stop.reserve = {60};
  options.stop.budget = {200};
  EXPECT_EQ(
      text(),
      "does not fit into stop.budget = 3m20s less 1m, where it comes to about step 60 of 100");
}

TEST_F(ForecastTest, SaysNothingOfABudgetThatEarlierStartsHaveUsed) {
  options.stop.budget = {200};
  EXPECT_EQ(quota_text(make(50), options, 50, plan.total_steps), "");
  options.stop.after = {300};
  EXPECT_THAT(quota_text(make(50), options, 50, plan.total_steps),
              ::testing::StartsWith("fits into stop.after = 5m"));
}

TEST_F(ForecastTest, APeakIsReachedByAThird) {
  EXPECT_FALSE(times_by_peaks(plan));
  plan.compute = {.flops_per_step = 2e12, .peak_flops = 60e12};
  const auto peaks = times_by_peaks(plan);
  ASSERT_TRUE(peaks);
  EXPECT_NEAR(peaks->parts.step_s, 0.1, 1e-9);
  const Forecast forecast = make_forecast(*peaks, plan, options);
  EXPECT_EQ(forecast.off_by(), 3);
  EXPECT_NE(forecast_text(forecast).find("peaks, so it may be off by 3 times"), std::string::npos);
  EXPECT_EQ(to_json(forecast).at("source"), "peaks");
}

TEST_F(ForecastTest, SaysWhatAnEvaluationNeedsThatDoesNotFit) {
  times.parts.evaluation_s = 500;
  options.eval.every_steps = 50;
  options.stop.after = {300};
  EXPECT_EQ(quota_text(make(), options, 0, plan.total_steps),
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
