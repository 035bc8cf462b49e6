// The whole of a comparison: time to a loss, text and JSON.
#include "report_fixtures.h"

#include <cmath>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

TrialGroup curves(const std::string& name, const std::vector<double>& seconds_per_point,
                  double last_loss) {
  TrialGroup made = group(name, std::vector<double>(seconds_per_point.size(), 0.1));
  for (std::size_t i = 0; i < made.trials.size(); ++i) {
    Trial& trial = made.trials[i];
    trial.metric = "loss";
    trial.metric_better = Better::lower;
    for (int point = 1; point <= 4; ++point)
      trial.curve.push_back({point * 10, point * seconds_per_point[i], last_loss + (4 - point)});
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
  EXPECT_THAT(row(found, "to_loss_s").text, HasSubstr("2 of 2 got there, against 0 of 2"));
  EXPECT_TRUE(std::isnan(row(found, "to_loss_s").contrast.interval.estimate));
}

TEST(Comparison, TimeToALossIsComparedWhateverTheWorkWas) {
  const TrialGroup b =
      with(curves("b", {20, 20.1, 19.9}, 1.0), "optimizer.lr", FactKind::work, 0.5);
  const Comparison found = compare(curves("a", {10, 10.1, 9.9}, 1.0), b, {.by = "to_loss_s"});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_THAT(found.verdict, HasSubstr("optimizer.lr"));
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
       {"kind",        "version", "conclusion", "verdict",    "reasons", "by",  "margin",
        "confidence",  "loss",    "varied",     "assumed",    "flags",   "a",   "b",
        "differences", "unknown", "equal",      "quantities", "counts",  "jobs"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["a"]["trials"][0]["curve"].size(), 4U);
  EXPECT_TRUE(json["jobs"].is_null());
  EXPECT_EQ(json["a"]["trials"][0]["facts"]["data"]["kind"], "work");
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
