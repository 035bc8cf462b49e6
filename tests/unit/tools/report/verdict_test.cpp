// What may be said of two groups whose work and place are the same.
#include "report_fixtures.h"

#include "fakes/error_of.h"
#include "tools/report/comparison/verdict.h"

#include <cmath>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Verdict, IsSlowerWhereTheIntervalLiesAbove) {
  const Comparison found =
      compare(group("a", {0.1, 0.101, 0.099}), group("b", {0.12, 0.121, 0.119}), {});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_EQ(found.by, "step_s");
  EXPECT_THAT(found.verdict, HasSubstr("slower"));
  EXPECT_NEAR(row(found, "step_s").contrast.interval.estimate, 1.2, 0.01);
  EXPECT_THAT(row(found, "step_s").contrast.method, HasSubstr("Welch"));
  EXPECT_EQ(
      compare(group("b", {0.12, 0.121, 0.119}), group("a", {0.1, 0.101, 0.099}), {}).conclusion,
      Conclusion::faster);
}

TEST(Verdict, IsNoDifferenceOnlyWhereTheIntervalLiesWithinTheMargin) {
  const std::vector<double> tight = {0.1, 0.1001, 0.0999, 0.1}, wide = {0.1, 0.11, 0.09, 0.1};
  const Comparison same = compare(group("a", tight), group("b", tight), {});
  EXPECT_EQ(same.conclusion, Conclusion::same);
  EXPECT_THAT(same.verdict, HasSubstr("no difference at a margin of 2 %"));
  const Comparison unsure = compare(group("a", wide), group("b", wide), {});
  EXPECT_EQ(unsure.conclusion, Conclusion::inconclusive);
  ASSERT_TRUE(row(unsure, "step_s").repeats_needed.has_value());
  EXPECT_GT(*row(unsure, "step_s").repeats_needed, 4);
  EXPECT_THAT(unsure.verdict, HasSubstr("inconclusive: would need about "));
}

TEST(Verdict, OfOneRunASideIsInconclusiveHoweverFarTheyAreApart) {
  const Comparison found = compare(group("a", {0.1}), group("b", {0.5}), {});
  EXPECT_EQ(found.conclusion, Conclusion::inconclusive);
  EXPECT_NEAR(row(found, "step_s").contrast.interval.estimate, 5, 1e-9);
  EXPECT_TRUE(std::isnan(row(found, "step_s").contrast.interval.low));
  EXPECT_THAT(found.verdict, HasSubstr("one repeat"));
}

TEST(Verdict, OfAQualityNeedsToKnowWhatIsBetter) {
  const auto trial = [](double value, Better better) {
    Trial made = known_trial("t", 0.1);
    made.measure({.name = "best.auc",
                  .title = "auc",
                  .scale = Scale::difference,
                  .better = better,
                  .aspect = Aspect::quality},
                 value);
    return made;
  };
  const auto compared = [&](Better better, const CompareOptions& options) {
    TrialGroup a{.name = "a", .trials = {}}, b{.name = "b", .trials = {}};
    for (const double noise : {-0.001, 0.0, 0.001}) {
      a.trials.push_back(trial(0.7 + noise, better));
      b.trials.push_back(trial(0.8 + noise, better));
    }
    return row(compare(a, b, options), "best.auc").conclusion;
  };
  EXPECT_EQ(compared(Better::higher, {}), Conclusion::better);
  EXPECT_EQ(compared(Better::lower, {}), Conclusion::worse);
  EXPECT_EQ(compared(Better::unknown, {}), Conclusion::more);
  EXPECT_EQ(compared(Better::unknown, {.better = {{"auc", Better::higher}}}), Conclusion::better);
}

TEST(Verdict, OfQualitiesThatNeverVaryIsInconclusive) {
  TrialGroup a = group("a", {0.1, 0.1, 0.1}), b = group("b", {0.1, 0.1, 0.1});
  const Quantity auc{.name = "auc",
                     .title = "auc",
                     .scale = Scale::difference,
                     .better = Better::higher,
                     .aspect = Aspect::quality};
  for (Trial& trial : a.trials) trial.measure(auc, 0.7);
  for (Trial& trial : b.trials) trial.measure(auc, 0.8);
  const QuantityRow found = row(compare(a, b, {}), "auc");
  EXPECT_EQ(found.conclusion, Conclusion::inconclusive) << "one seed, thrice";
  EXPECT_THAT(found.text, HasSubstr("the same to the last digit"));
}

TEST(Verdict, OfValuesThatAreNoNumbersIsNone) {
  const Comparison found = compare(group("a", {NAN, NAN}), group("b", {0.1, 0.1}), {});
  EXPECT_EQ(found.conclusion, Conclusion::inconclusive);
  EXPECT_TRUE(comparison_json(found)["quantities"][0]["a"][0].is_null());
}

// Losses of three runs a side.
TrialGroup qualities(const std::string& name, const std::vector<double>& values) {
  TrialGroup made = group(name, std::vector<double>(values.size(), 0.1));
  for (std::size_t i = 0; i < values.size(); ++i)
    made.trials[i].measure(
        {.name = "loss", .title = "loss", .scale = Scale::difference, .aspect = Aspect::quality},
        values[i]);
  return made;
}

TEST(Verdict, OfQualitiesOneOfWhichDivergedIsInconclusive) {
  const QuantityRow found =
      row(compare(qualities("a", {1, 1.01, 0.99}), qualities("b", {0.5, NAN, 0.51}), {}), "loss");
  EXPECT_EQ(found.conclusion, Conclusion::inconclusive);
  EXPECT_THAT(found.text, HasSubstr("1 of 3 values of B are no finite numbers"));
}

TEST(Verdict, SaysHowManyHaveAValue) {
  TrialGroup a = qualities("a", {1, 1.01, 0.99}), b = qualities("b", {0.5, 0.505, 0.51});
  b.trials[1].quantities.pop_back();
  const QuantityRow found = row(compare(a, b, {}), "loss");
  EXPECT_EQ(found.conclusion, Conclusion::better);
  EXPECT_EQ(found.text, "better; of b 2 of 3 have a value");
}

TEST(Verdict, OfPairsLeavesOutThoseOfWhichAValueIsMissing) {
  TrialGroup a = group("a", {}), b = group("b", {});
  for (const double at : {1.0, 10.0, 100.0, 1000.0}) {  // far apart, and 1.1 × within each pair
    a.trials.push_back(known_trial("a", at));
    b.trials.push_back(known_trial("b", at * (1.1 + 1e-6 * at)));
  }
  a.trials[1].quantities.clear();
  b.trials[2].quantities.clear();
  const QuantityRow found = row(compare(a, b, {.paired = true}), "step_s");
  EXPECT_TRUE(found.contrast.paired);
  EXPECT_EQ(found.contrast.count_a, 2);
  EXPECT_NEAR(found.contrast.interval.estimate, 1.1, 0.001);
  EXPECT_EQ(found.text, "slower; 2 of 4 pairs have both values");
  b.trials[3].quantities.clear();
  EXPECT_TRUE(row(compare(a, b, {.paired = true}), "step_s").contrast.paired)
      << "not Welch's where the sides lack different numbers";
}

TEST(Verdict, OfAPairedQualityThatDoesNotVaryIsOne) {
  const QuantityRow found =
      row(compare(qualities("a", {1, 1, 1}), qualities("b", {2, 2, 2}), {.paired = true}), "loss");
  EXPECT_EQ(found.conclusion, Conclusion::worse) << "a trial of two commands says so too";
}

TEST(Verdict, TakesAMarginInTheUnitOfWhatDecides) {
  const TrialGroup a = qualities("a", {1, 1.001, 0.999}), b = qualities("b", {1.1, 1.101, 1.099});
  EXPECT_EQ(compare(a, b, {.by = "loss"}).conclusion, Conclusion::worse);
  const Comparison found = compare(a, b, {.by = "loss", .by_margin = 0.2});
  EXPECT_EQ(found.conclusion, Conclusion::same);
  EXPECT_EQ(row(found, "loss").text, "no difference at a margin of 0.2");
  EXPECT_EQ(comparison_json(found)["by_margin"], 0.2);
}

TEST(Verdict, OfDifferentMetricsIsThatNothingWasMeasuredOnBothSides) {
  Trial a = known_trial("a", 0.1), b = known_trial("b", 0.1);
  a.quantities.clear();
  b.quantities.clear();
  a.measure({.name = "best.x", .title = "x"}, 1.0);
  b.measure({.name = "best.y", .title = "y"}, 1.0);
  const Comparison found = compare({.name = "a", .trials = {a}}, {.name = "b", .trials = {b}}, {});
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("nothing was measured on both sides"));
}

TEST(Verdict, GoesByWhatIsAskedFor) {
  EXPECT_THAT(error_of([] { compare(group("a", {1}), group("b", {1}), {.by = "step_"}); }),
              HasSubstr("did you mean step_s?"));
}

TEST(Verdict, TakesAShortNameForOneQuantityAlone) {
  const std::vector<std::string> names{"best.valid.loss", "best.loss", "test.auc", "train.auc",
                                       "best.f1"};
  EXPECT_EQ(full_name("loss", names), "best.loss");
  EXPECT_EQ(full_name("valid.loss", names), "best.valid.loss");
  EXPECT_EQ(full_name("best.f1", names), "best.f1");
  EXPECT_EQ(full_name("oss", names), "");
  EXPECT_THAT(error_of([&] { full_name("auc", names); }),
              HasSubstr("--by auc may be test.auc or train.auc"));
}

TEST(ExitCode, SaysWhetherItIsSlowerByTheThreshold) {
  const TrialGroup a = group("a", {0.1, 0.1001, 0.0999}),
                   slower = group("b", {0.11, 0.1101, 0.1099}),
                   same = group("b", {0.1, 0.1001, 0.0999});
  EXPECT_EQ(exit_code_of(compare(a, same, {}), 0.03), 0);
  EXPECT_EQ(exit_code_of(compare(a, slower, {}), 0.03), 1);
  EXPECT_EQ(exit_code_of(compare(a, slower, {}), 0.2), 0);
  EXPECT_EQ(exit_code_of(compare(group("a", {0.1}), group("b", {0.2}), {}), 0.03), 2)
      << "one repeat tells nothing";
  EXPECT_EQ(exit_code_of(
                compare(qualities("a", {1, 1}), qualities("b", {0.5, 0.5}), {.by = "loss"}), 0.03),
            2)
      << "the same to the last digit";
  EXPECT_EQ(
      exit_code_of(compare(qualities("a", {1, 1.1}), qualities("b", {NAN, 2}), {.by = "loss"}), 5),
      2);
  EXPECT_EQ(exit_code_of(compare(a, with(slower, "data", FactKind::work, "d1"), {}), 0.03), 2);
}

TEST(Counts, OfFewJobsAreInconclusive) {
  TrialGroup a = group("a", {1}), b = group("b", {1});
  a.trials[0].counts["failed"] = {0, 36};
  b.trials[0].counts["failed"] = {2, 36};
  const Comparison found = compare(a, b, {});
  ASSERT_EQ(found.counts.size(), 1U);
  EXPECT_EQ(found.counts[0].conclusion, Conclusion::inconclusive);
  EXPECT_GT(found.counts[0].p, 0.4);
  EXPECT_THAT(found.counts[0].text, HasSubstr("2 of 36 against 0 of 36"));
  EXPECT_THAT(found.counts[0].text, Not(HasSubstr("inf"))) << "a base of zero gives no ratio";
  EXPECT_EQ(found.counts[0].test, "Fisher's exact test")
      << "who knows whether the jobs are the same";
  EXPECT_TRUE(comparison_json(found)["counts"][0]["only_a"].is_null());
  b.trials[0].counts["failed"] = {20, 36};
  EXPECT_EQ(compare(a, b, {}).counts[0].conclusion, Conclusion::worse);
}

TEST(Counts, OfMillionsAreNeverSaidToHaveNoChanceAtAll) {
  TrialGroup a = group("a", {1}), b = group("b", {1});
  a.trials[0].counts["failed"] = {0, 1'000'000'000};
  b.trials[0].counts["failed"] = {1'000'000, 1'000'000'000};
  EXPECT_THAT(compare(a, b, {}).counts[0].text, HasSubstr("p < 1e-300"));
}

TEST(Counts, OfTheSameJobsAgainAreNotTested) {
  TrialGroup a = group("a", {1, 1, 1, 1, 1}), b = group("b", {1, 1, 1, 1, 1});
  for (Trial& trial : a.trials) trial.counts["failed"] = {0, 10};
  for (Trial& trial : b.trials) trial.counts["failed"] = {2, 10};
  const Comparison found = compare(a, b, {});
  ASSERT_EQ(found.counts.size(), 1U);
  EXPECT_EQ(found.counts[0].conclusion, Conclusion::inconclusive);
  EXPECT_THAT(found.counts[0].text, HasSubstr("10 of 50 against 0 of 50"));
  EXPECT_TRUE(comparison_json(found)["counts"][0]["p"].is_null());
  EXPECT_TRUE(comparison_json(found)["counts"][0]["a"]["low"].is_null());
}

}  // namespace
}  // namespace lockstep
