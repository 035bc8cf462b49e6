// The whole of a comparison: time to a loss, text and JSON.
#include "report_fixtures.h"

#include <cmath>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrialGroup curves(const std::string& name, const std::vector<double>& seconds_per_point,
                  double last_loss) {
  TrialGroup made = group(name, std::vector<double>(seconds_per_point.size(), 0.1));
  for (std::size_t i = 0; i < made.trials.size(); ++i) {
    Trial& trial = made.trials[i];
    trial.metric = "loss";
    trial.metric_better = Better::lower;
    for (int point = 1; point <= 4; ++point)
      trial.curve.push_back({point * 10.0, point * seconds_per_point[i], last_loss + (4 - point)});
  }
  return made;
}

TEST(Comparison, TimeToALossGoesToTheWorstOfAllBests) {
  const Comparison found =
      compare(curves("a", {10, 10.1, 9.9}, 1.0), curves("b", {20, 20.1, 19.9}, 1.5), {});
  EXPECT_EQ(found.loss, 1.5);
  const QuantityRow& times = row(found, "to_loss_s");
  EXPECT_EQ(times.a.size(), 3U);
  EXPECT_NEAR(times.a[0], 40, 1e-9);
  EXPECT_NEAR(times.b[0], 80, 1e-9);
  EXPECT_EQ(times.conclusion, Conclusion::slower);
}

TEST(Comparison, ARunThatNeverGotThereIsNotLeftOut) {
  const Comparison found =
      compare(curves("a", {10, 10.1}, 1.0), curves("b", {20, 20.1}, 1.5), {.loss = 1.2});
  EXPECT_EQ(row(found, "to_loss_s").conclusion, Conclusion::inconclusive);
  EXPECT_THAT(row(found, "to_loss_s").text, HasSubstr("0 of 2 got there, against 2 of 2"));
  EXPECT_TRUE(std::isnan(row(found, "to_loss_s").contrast.interval.estimate));
}

TEST(Comparison, ARunWithoutAnyValueGotNowhere) {
  TrialGroup b = curves("b", {20, 20.1}, 1.5);
  for (CurvePoint& point : b.trials[1].curve) point.value = NAN;
  const Comparison found = compare(curves("a", {10, 10.1}, 1.0), b, {});
  EXPECT_EQ(found.loss, 1.5);
  EXPECT_THAT(row(found, "to_loss_s").text, HasSubstr("1 of 2 got there, against 2 of 2"));
}

TEST(Comparison, ARunThatNeverEvaluatedGotNowhere) {
  TrialGroup b = curves("b", {20, 20.1}, 1.5);
  b.trials[1].curve.clear();
  b.trials[1].metric.clear();
  b.trials[1].metric_better = Better::unknown;
  const TrialGroup a = curves("a", {10, 10.1}, 1.0);
  const Comparison found = compare(a, b, {});
  EXPECT_EQ(found.loss, 1.5);
  EXPECT_THAT(row(found, "to_loss_s").text, HasSubstr("1 of 2 got there, against 2 of 2"));
  b.trials[0].curve.clear();
  EXPECT_FALSE(compare(a, b, {}).loss.has_value()) << "nothing is known of a side without any";
}

TEST(Comparison, TimeToALossIsNoMeanOfThoseThatGotThere) {
  TrialGroup b = with(curves("b", {20, 20.1}, 1.0), "data", FactKind::work, "d1");
  for (CurvePoint& point : b.trials[1].curve) point.value = 9;
  const Comparison found = compare(curves("a", {10, 10.1}, 1.0), b, {.loss = 1.2});
  const QuantityRow& times = row(found, "to_loss_s");
  EXPECT_EQ(times.conclusion, Conclusion::not_comparable);
  EXPECT_TRUE(std::isnan(times.contrast.mean_b));
  EXPECT_TRUE(std::isnan(times.contrast.interval.estimate));
  const std::string text = comparison_text(found, 80);
  EXPECT_THAT(text.substr(text.find("  time to loss"), 80), Not(HasSubstr("80 s")))
      << "the one that got there";
}

TEST(Comparison, TimeToALossIsComparedWhateverTheWorkWas) {
  const TrialGroup b = with(curves("b", {20, 20.1, 19.9}, 1.0), "model.layers", FactKind::work, 12);
  const Comparison found = compare(curves("a", {10, 10.1, 9.9}, 1.0), b, {.by = "to_loss_s"});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_THAT(found.verdict, HasSubstr("model.layers"));
  EXPECT_EQ(row(found, "step_s").conclusion, Conclusion::not_comparable);
}

TEST(Comparison, WithTwentyRunsASideTheBootstrapStandsBeside) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(0.1 + 0.0001 * (i % 7));
  EXPECT_TRUE(
      row(compare(group("a", values), group("b", values), {}), "step_s").bootstrap.has_value());
  EXPECT_FALSE(
      row(compare(group("a", {1, 1}), group("b", {1, 1}), {}), "step_s").bootstrap.has_value());
}

TEST(Comparison, AsJsonHasEverythingThatThePageNames) {
  const nlohmann::json json =
      comparison_json(compare(curves("a", {10, 11}, 1), curves("b", {10, 11}, 1), {}));
  for (const char* key :
       {"kind",       "version",     "conclusion", "verdict", "reasons",    "by",     "margin",
        "could_vary", "confidence",  "loss",       "varied",  "assumed",    "flags",  "a",
        "b",          "differences", "unknown",    "equal",   "quantities", "counts", "jobs"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["a"]["trials"][0]["curve"].size(), 4U);
  EXPECT_TRUE(json["jobs"].is_null());
  EXPECT_EQ(json["a"]["trials"][0]["facts"]["data"]["kind"], "work");
}

TEST(Comparison, ADirectionOfWhatIsNotThereIsASlip) {
  const auto compared = [](const std::string& name) {
    compare(curves("a", {10}, 1), curves("b", {10}, 1), {.better = {{name, Better::higher}}});
  };
  EXPECT_THAT(error_of([&] { compared("step_"); }), HasSubstr("did you mean step_s?"));
  EXPECT_NO_THROW(compared("step_s"));
}

TEST(Comparison, TheMedianOfAnEvenNumberLiesBetween) {
  Comparison found;
  found.a = group("a", {1});
  found.b = group("b", {1});
  found.jobs = {.any = true, .matched = 2, .by = "name", .rows = {}};
  for (const double ratio : {1.0, 3.0})
    found.jobs.rows.push_back(
        {.name = "j", .state_a = "done", .state_b = "done", .seconds_a = 1, .seconds_b = ratio});
  EXPECT_THAT(comparison_text(found, 200), HasSubstr("median 2.00"));
}

TEST(Comparison, TextHasFlagsThenTheVerdictThenTheTable) {
  const Comparison found =
      compare(group("a", {0.1}), with(group("b", {0.05}), "global_batch", FactKind::work, 64), {});
  const std::string text = comparison_text(found, 80);
  EXPECT_LT(text.find("! b is faster"), text.find("not comparable:"));
  EXPECT_LT(text.find("not comparable:"), text.find("> step time"));
  EXPECT_THAT(text, HasSubstr("a run is one repeat"));
}

}  // namespace
}  // namespace lockstep
