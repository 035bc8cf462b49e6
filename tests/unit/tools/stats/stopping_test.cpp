// Order and end of a trial, the words of a verdict, and what may spoil it.
#include "tools/stats/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/philox.h"
#include "tools/stats/trial_checks.h"
#include "tools/stats/verdict.h"

namespace lockstep {
namespace {

TEST(PairOrder, HasBothOrdersInEachTwoPairs) {
  bool both_begin = false, neither_begins = false;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (int pair = 0; pair < 40; pair += 2) {
      const bool first = b_runs_first(PairOrder::balanced, seed, pair);
      EXPECT_NE(first, b_runs_first(PairOrder::balanced, seed, pair + 1));
      EXPECT_EQ(first, b_runs_first(PairOrder::balanced, seed, pair)) << "the seed says it";
      (first ? both_begin : neither_begins) = true;
    }
  EXPECT_TRUE(both_begin && neither_begins) << "drawn, not always the same";
  EXPECT_FALSE(b_runs_first(PairOrder::a_first, 1, 0) || b_runs_first(PairOrder::a_first, 1, 1));
}

Contrast after(int pairs, double half_of_log, double ratio = 1) {
  Contrast made;
  made.count_a = made.count_b = pairs;
  made.paired = true;
  made.spread = 0.03;
  made.interval = {ratio * std::exp(-half_of_log), ratio, ratio * std::exp(half_of_log)};
  return made;
}

TEST(NarrowEnough, AsksForTheWidthAloneAndNeverForTheDifference) {
  const StoppingRule rule;
  const double enough = 0.449 * std::log(1.02), wide = 0.451 * std::log(1.02);
  EXPECT_TRUE(narrow_enough(after(10, enough), rule));
  EXPECT_FALSE(narrow_enough(after(10, wide), rule));
  EXPECT_FALSE(narrow_enough(after(10, wide, 5.0), rule)) << "however clear it is";
  EXPECT_TRUE(narrow_enough(after(10, enough, 5.0), rule));
}

TEST(NarrowEnough, AsksForTenPairsAndAnEvenNumber) {
  const StoppingRule rule;
  EXPECT_FALSE(narrow_enough(after(8, 0), rule));
  EXPECT_FALSE(narrow_enough(after(11, 0), rule));
  EXPECT_TRUE(narrow_enough(after(12, 0), rule));
  Contrast unknown = after(12, 0);
  unknown.interval.low = unknown.interval.high = std::nan("");
  EXPECT_FALSE(narrow_enough(unknown, rule));
}

struct Outcomes {
  int same = 0, more = 0, less = 0, held = 0;
};

Outcomes simulate(double ratio, double spread, const StoppingRule& rule, int trials) {
  Outcomes outcomes;
  for (int trial = 0; trial < trials; ++trial) {
    Random random(5, RandomStream::sample, static_cast<std::uint64_t>(trial), 1);
    std::vector<double> a, b;
    Contrast found;
    do {
      a.push_back(std::exp(spread * random.normal()));
      b.push_back(ratio * std::exp(spread * random.normal()));
      found = paired_contrast(rule.scale, a, b, rule.confidence);
    } while (!narrow_enough(found, rule));
    const FoundDifference finding = find(found, rule.margin);
    outcomes.same += finding == FoundDifference::same ? 1 : 0;
    outcomes.more += finding == FoundDifference::more ? 1 : 0;
    outcomes.less += finding == FoundDifference::less ? 1 : 0;
    outcomes.held += found.interval.low <= ratio && ratio <= found.interval.high ? 1 : 0;
  }
  return outcomes;
}

TEST(NarrowEnough, CallsEqualCommandsDifferentInFewerThanFiveOf100) {
  for (const double spread : {0.004, 0.01}) {
    const Outcomes outcomes = simulate(1, spread, {}, 1000);
    EXPECT_LE(outcomes.more + outcomes.less, 35) << spread;
    EXPECT_GE(outcomes.held, 910) << spread;
  }
}

TEST(NarrowEnough, FindsWhatDiffersByTheMarginAsOftenAsIsStated) {
  const StoppingRule rule;
  EXPECT_NEAR(chance_to_find(1.02, rule), 0.975, 0.001);
  EXPECT_NEAR(chance_to_find(1 / 1.02, rule), 0.975, 0.001);
  EXPECT_GT(chance_to_find(1.04, rule), 0.9999);
  EXPECT_LT(chance_to_find(1, rule), 0.02);
  for (const double spread : {0.004, 0.01})
    EXPECT_NEAR(simulate(1.02, spread, rule, 1000).more, 975, 30) << spread;
}

TEST(VerdictText, SaysWhatHoldsAndWhatIsMissing) {
  const VerdictWords words{.less = "faster", .more = "slower"};
  EXPECT_EQ(verdict_text(after(10, 0.005), 0.02, words), "no difference at the margin of 2 %");
  EXPECT_EQ(verdict_text(after(10, 0.005, 1.1), 0.02, words), "slower");
  EXPECT_EQ(verdict_text(after(10, 0.005, 0.9), 0.02, words), "faster");
  EXPECT_EQ(verdict_text(after(10, 0.05), 0.02, words), "inconclusive: would need about 38 pairs");
  Contrast one = paired_contrast(Scale::ratio, std::vector{1.0}, std::vector{2.0});
  EXPECT_EQ(verdict_text(one, 0.02, words),
            "inconclusive: an interval needs two pairs, but there is one");
  EXPECT_EQ(margin_text(Scale::ratio, 0.005), "0.5 %");
  EXPECT_EQ(margin_text(Scale::difference, 0.01), "0.01");
}

TEST(MoreBy, IsYesNoOrNotKnown) {
  EXPECT_EQ(more_by(after(10, 0.005, 1.05), 0.03), true);
  EXPECT_EQ(more_by(after(10, 0.005, 1.01), 0.03), false);
  EXPECT_EQ(more_by(after(10, 0.005, 1.03), 0.03), std::nullopt);
  EXPECT_EQ(more_by(after(10, 0.005, 1.1), 0), true);
  Contrast unknown = after(1, 0);
  unknown.interval.low = unknown.interval.high = std::nan("");
  EXPECT_EQ(more_by(unknown, 0.03), std::nullopt);
}

struct Trial {
  std::vector<double> a, b;
  std::vector<char> b_first;
};

// In turn, each value with 1 % of noise; `second` times longer in second place, `drift` in the
// second half.
Trial trial_of(int pairs, double second, double drift, double spread_b = 0.01) {
  Trial trial;
  Random random(2, RandomStream::sample, 0, 0);
  for (int i = 0; i < pairs; ++i) {
    const bool swapped = b_runs_first(PairOrder::balanced, 1, i);
    const double level = i < pairs / 2 ? 1 : drift;
    trial.a.push_back(level * (swapped ? second : 1) * std::exp(0.01 * random.normal()));
    trial.b.push_back(level * (swapped ? 1 : second) * std::exp(spread_b * random.normal()));
    trial.b_first.push_back(swapped ? 1 : 0);
  }
  return trial;
}

TrialChecks checks_of(const Trial& trial) {
  return check_trial(trial.a, trial.b, trial.b_first, 0.02);
}

TEST(TrialChecks, FindsNothingInAQuietTrial) {
  const TrialChecks checks = checks_of(trial_of(20, 1, 1));
  EXPECT_FALSE(checks.drift || checks.second_place || checks.spread_a);
  EXPECT_FALSE(checks_of(trial_of(4, 1.5, 2)).drift) << "too few pairs to tell";
}

TEST(TrialChecks, FindsDriftTheSecondPlaceAndOneSidedSpread) {
  EXPECT_NEAR(checks_of(trial_of(20, 1, 1.1)).drift.value_or(0), 1.1, 0.02);
  EXPECT_NEAR(checks_of(trial_of(20, 0.9, 1)).second_place.value_or(0), 0.9, 0.02);
  const TrialChecks wide = checks_of(trial_of(20, 1, 1, 0.2));
  EXPECT_NEAR(wide.spread_b.value_or(0), 0.2, 0.1);
  EXPECT_LT(wide.spread_a.value_or(1), 0.05);
}

}  // namespace
}  // namespace lockstep
