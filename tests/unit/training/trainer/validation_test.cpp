// Which evaluation is the best so far.
#include "training/trainer/output/validation.h"
#include "training/trainer/output/metric_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

std::vector<Metric> metrics(double loss, double accuracy = 0) {
  return {{"loss", loss, "", true}, {"accuracy", accuracy, "", false}};
}

TEST(Metrics, ThatAreInfiniteAreNamed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(infinite_metrics(metrics(834.5, std::nan(""))).is_null());
  EXPECT_EQ(infinite_metrics(metrics(infinity, 1)), (nlohmann::json{{"loss", "inf"}}));
  EXPECT_EQ(infinite_metrics(metrics(1, -infinity)), (nlohmann::json{{"accuracy", "-inf"}}));
}

TEST(Best, IsTheLowestOrTheHighestAsTheMetricSays) {
  BestMetric loss("");
  EXPECT_TRUE(loss.improves(metrics(2), 1));
  EXPECT_FALSE(loss.improves(metrics(2), 2));
  EXPECT_TRUE(loss.improves(metrics(1), 3));
  BestMetric accuracy("accuracy");
  EXPECT_TRUE(accuracy.improves(metrics(2, 0.5), 4));
  EXPECT_FALSE(accuracy.improves(metrics(1, 0.4), 5));
  EXPECT_TRUE(accuracy.improves(metrics(3, 0.6), 6));
}

TEST(Best, IsNeverAValueThatIsNotFinite) {
  BestMetric loss("");
  EXPECT_FALSE(loss.improves(metrics(std::nan("")), 7));
  EXPECT_FALSE(loss.so_far.value.has_value());
  EXPECT_FALSE(loss.improves(metrics(-std::numeric_limits<double>::infinity()), 8));
  EXPECT_TRUE(loss.improves(metrics(5), 9));
  EXPECT_FALSE(loss.improves(metrics(std::nan("")), 10));
  EXPECT_EQ(loss.so_far.value, 5);
}

TEST(Best, CountsTheEvaluationsSince) {
  BestMetric loss("");
  loss.improves(metrics(2), 10);
  loss.improves(metrics(3), 20);
  loss.improves(metrics(std::nan("")), 30);
  EXPECT_EQ(loss.so_far.step, 10);
  EXPECT_EQ(loss.so_far.last_step, 30);
  EXPECT_EQ(loss.so_far.evaluations_since, 2);
  const BestSoFar again = best_from_json(to_json(loss.so_far));
  EXPECT_EQ(again.value, 2);
  EXPECT_EQ(again.step, 10);
  EXPECT_EQ(again.last_step, 30);
  EXPECT_EQ(again.evaluations_since, 2);
  loss.improves(metrics(1), 40);
  EXPECT_EQ(loss.so_far.evaluations_since, 0);
  EXPECT_EQ(loss.metric(), "loss");
}

TEST(Best, IsAtNoStepWhereNothingWasEverFinite) {
  BestMetric loss("");
  loss.improves(metrics(std::nan("")), 10);
  nlohmann::json state = to_json(loss.so_far);
  state["step"] = 14;  // of the checkpoint
  EXPECT_EQ(best_from_json(state).step, 0);
}

TEST(Patience, EndsAfterSoManyEvaluationsOrEpochsWithoutABetterOne) {
  TrainOptions options;
  const BestSoFar best{.value = 2, .step = 10, .last_step = 40, .evaluations_since = 3};
  const auto why = [&] { return out_of_patience(options, best, "loss", 20); };
  EXPECT_EQ(why(), "");
  options.stop.patience = 4;
  EXPECT_EQ(why(), "");
  options.stop.patience = 3;
  EXPECT_EQ(why(), "no better loss in 3 evaluations since step 10");
  options.stop.patience = 0;
  options.stop.patience_epochs = 1.6;
  EXPECT_EQ(why(), "");
  options.stop.patience_epochs = 1.5;
  EXPECT_EQ(why(), "no better loss in 1.5 epochs since step 10");
  EXPECT_EQ(out_of_patience(options, {.value = 2, .step = 10, .last_step = 50}, "loss", 20), "");
}

TEST(Patience, CountsFromTheStartWhereNothingWasEverFinite) {
  TrainOptions options;
  options.stop.patience = 2;
  EXPECT_EQ(out_of_patience(options, {.evaluations_since = 2}, "loss", 10),
            "no better loss in 2 evaluations since the start");
}

}  // namespace
}  // namespace lockstep
