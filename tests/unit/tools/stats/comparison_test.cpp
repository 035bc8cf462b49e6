// Intervals of two groups: published values, edges, and what must hold of all.
#include "tools/stats/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/philox.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Student (1908), extra hours of sleep by two drugs in ten patients: R's `sleep`.
const std::vector<double> drug_one{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const std::vector<double> drug_two{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(Contrast, IsWelchsOfStudentsSleepData) {
  // R: t.test(extra ~ group): t = -1.8608, df = 17.776, interval -3.3654832 to 0.2054832.
  const Contrast found = contrast(Scale::difference, drug_one, drug_two);
  EXPECT_NEAR(found.interval.low, -0.2054832, 1e-6);
  EXPECT_NEAR(found.interval.high, 3.3654832, 1e-6);
  EXPECT_NEAR(found.interval.estimate, 1.58, 1e-12);
  EXPECT_NEAR(found.mean_a, 0.75, 1e-12);
  EXPECT_NEAR(found.mean_b, 2.33, 1e-12);
  EXPECT_EQ(found.count_a, 10);
  EXPECT_EQ(found.method, "Welch's t");
  EXPECT_EQ(found.unknown, "");
}

TEST(Contrast, IsThePairedTOfStudentsSleepData) {
  // R: t.test(extra ~ group, paired = TRUE): interval -2.4598858 to -0.7001142.
  const Contrast found = paired_contrast(Scale::difference, drug_one, drug_two);
  EXPECT_NEAR(found.interval.low, 0.7001142, 1e-6);
  EXPECT_NEAR(found.interval.high, 2.4598858, 1e-6);
  EXPECT_EQ(found.method, "paired t");
  EXPECT_TRUE(found.paired);
}

TEST(Contrast, OfARatioIsThatOfTheLogarithms) {
  const std::vector<double> a{1.0, 1.2, 0.9}, b{2.1, 2.0, 2.6, 1.8};
  std::vector<double> log_a, log_b;
  for (const double value : a) log_a.push_back(std::log(value));
  for (const double value : b) log_b.push_back(std::log(value));
  const Contrast ratio = contrast(Scale::ratio, a, b);
  const Contrast logs = contrast(Scale::difference, log_a, log_b);
  EXPECT_NEAR(ratio.interval.low, std::exp(logs.interval.low), 1e-12);
  EXPECT_NEAR(ratio.interval.estimate, std::exp(logs.interval.estimate), 1e-12);
  EXPECT_NEAR(ratio.interval.high, std::exp(logs.interval.high), 1e-12);
  EXPECT_NEAR(ratio.spread, logs.spread, 1e-12);
  EXPECT_NEAR(ratio.mean_a, std::cbrt(1.0 * 1.2 * 0.9), 1e-12);
  EXPECT_EQ(ratio.method, "Welch's t on logarithms");
  EXPECT_NEAR(half_width(ratio), half_width(logs), 1e-12);
}

TEST(Contrast, HasNoIntervalWithOneValueAndSaysWhy) {
  const Contrast found = contrast(Scale::ratio, std::vector{2.0}, std::vector{3.0});
  EXPECT_TRUE(std::isnan(found.interval.low));
  EXPECT_TRUE(std::isnan(found.interval.high));
  EXPECT_NEAR(found.interval.estimate, 1.5, 1e-12);
  EXPECT_EQ(found.unknown, "an interval needs two values on each side, but there are 1 and 1");
  EXPECT_EQ(find(found, 0.02), FoundDifference::inconclusive);
  EXPECT_FALSE(repeats_needed(found, 0.02));
  const Contrast pair = paired_contrast(Scale::ratio, std::vector{2.0}, std::vector{3.0});
  EXPECT_EQ(pair.unknown, "an interval needs two pairs, but there is one");
  EXPECT_EQ(find(pair, 0.02), FoundDifference::inconclusive);
}

TEST(Contrast, TakesTheSpreadOfTheSideThatHasOne) {
  const Contrast found = contrast(Scale::difference, std::vector{2.0}, std::vector{3.0, 5.0});
  EXPECT_TRUE(std::isnan(found.interval.low));
  EXPECT_NEAR(found.spread, std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(repeats_needed(found, 0.5));
}

TEST(Contrast, OfNothingIsNothing) {
  const std::vector<double> none, some{1.0, 2.0};
  EXPECT_EQ(contrast(Scale::ratio, none, some).unknown, "A has no value");
  EXPECT_EQ(contrast(Scale::ratio, some, none).unknown, "B has no value");
  EXPECT_EQ(paired_contrast(Scale::ratio, none, none).unknown, "there is no pair");
  EXPECT_TRUE(std::isnan(contrast(Scale::ratio, none, some).interval.estimate));
  EXPECT_TRUE(std::isnan(contrast(Scale::ratio, none, some).mean_a));
}

TEST(Contrast, LeavesOutWhatDoesNotFitTheScale) {
  const std::vector<double> bad{nan_value, infinite, 0.0, -1.0}, good{1.0, 2.0};
  const Contrast none = contrast(Scale::ratio, bad, good);
  EXPECT_EQ(none.unknown, "none of the 4 values of A is a finite number above zero");
  const Contrast differences = contrast(Scale::difference, bad, good);
  EXPECT_EQ(differences.count_a, 2) << "0 and -1 are values where the scale is a difference";
  const std::vector<double> a{1.0, nan_value, 3.0, 4.0}, b{2.0, 2.0, 0.0, 8.0};
  const Contrast pairs = paired_contrast(Scale::ratio, a, b);
  EXPECT_EQ(pairs.count_a, 2) << "a pair goes as a whole";
  EXPECT_NEAR(pairs.interval.estimate, 2, 1e-12);
  EXPECT_THAT(paired_contrast(Scale::ratio, bad, bad).unknown,
              HasSubstr("none of the 4 pairs has two finite numbers above zero"));
}

TEST(Contrast, RefusesPairsOfDifferentLengths) {
  EXPECT_EQ(error_of([] {
              paired_contrast(Scale::ratio, std::vector{1.0}, std::vector{1.0, 2.0});
            }),
            "pairs need as many values of A as of B, but there are 1 and 2 | ");
}

TEST(Contrast, RefusesAConfidenceThatIsNone) {
  for (const double confidence : {0.0, 1.0, -1.0, nan_value})
    EXPECT_THAT(error_of([&] { contrast(Scale::ratio, drug_two, drug_two, confidence); }),
                HasSubstr("must be between 0 and 1"));
}

TEST(Contrast, OfEqualValuesIsExactlyOne) {
  const std::vector<double> a(3, 0.1), b(2, 0.1), twice(2, 0.2);
  const Contrast same = contrast(Scale::ratio, a, b);
  EXPECT_EQ(same.interval, (Interval{1, 1, 1}));
  EXPECT_EQ(same.spread, 0);
  EXPECT_EQ(find(same, 0.001), FoundDifference::same);
  const Contrast more = contrast(Scale::ratio, a, twice);
  EXPECT_NEAR(more.interval.low, 2, 1e-12);
  EXPECT_EQ(more.interval.low, more.interval.high);
  EXPECT_EQ(find(more, 0.02), FoundDifference::more);
  EXPECT_EQ(*repeats_needed(more, 0.02), 2);
  EXPECT_EQ(paired_contrast(Scale::ratio, b, b).interval, (Interval{1, 1, 1}));
}

TEST(Contrast, TurnsRoundWhereAAndBChangePlaces) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed, RandomStream::sample, 0, 0);
    std::vector<double> a, b;
    for (int i = 0; i < 4; ++i) a.push_back(std::exp(random.normal()));
    for (int i = 0; i < 4; ++i) b.push_back(std::exp(random.normal()));
    for (const bool paired : {false, true}) {
      const auto of = [&](const auto& x, const auto& y) {
        return paired ? paired_contrast(Scale::ratio, x, y) : contrast(Scale::ratio, x, y);
      };
      const Contrast one = of(a, b), other = of(b, a);
      EXPECT_NEAR(one.interval.low * other.interval.high, 1, 1e-9);
      EXPECT_NEAR(one.interval.estimate * other.interval.estimate, 1, 1e-9);
      EXPECT_NEAR(one.spread, other.spread, 1e-12);
      const FoundDifference finding = find(one, 0.02), turned = find(other, 0.02);
      if (finding == FoundDifference::more) {
        EXPECT_EQ(turned, FoundDifference::less);
      } else if (finding == FoundDifference::less) {
        EXPECT_EQ(turned, FoundDifference::more);
      } else {
        EXPECT_EQ(turned, finding);
      }
    }
  }
}

Contrast with_interval(Scale scale, double low, double high) {
  Contrast made;
  made.scale = scale;
  made.interval = {low, scale == Scale::ratio ? std::sqrt(low * high) : (low + high) / 2, high};
  return made;
}

TEST(Find, IsTheSameOnlyWithinTheMargin) {
  const auto ratio = [](double low, double high) {
    return find(with_interval(Scale::ratio, low, high), 0.02);
  };
  EXPECT_EQ(ratio(0.99, 1.01), FoundDifference::same);
  EXPECT_EQ(ratio(1.001, 1.019), FoundDifference::same) << "certain, and too small to matter";
  EXPECT_EQ(ratio(1 / 1.0199, 1.0199), FoundDifference::same);
  EXPECT_EQ(ratio(0.98, 1.01), FoundDifference::inconclusive) << "1 / 1.02 is above 0.98";
  EXPECT_EQ(ratio(0.99, 1.03), FoundDifference::inconclusive);
  EXPECT_EQ(ratio(1.01, 1.03), FoundDifference::more);
  EXPECT_EQ(ratio(1.5, 1.6), FoundDifference::more);
  EXPECT_EQ(ratio(0.9, 0.99), FoundDifference::less);
  const auto shift = [](double low, double high) {
    return find(with_interval(Scale::difference, low, high), 0.5);
  };
  EXPECT_EQ(shift(-0.5, 0.5), FoundDifference::same);
  EXPECT_EQ(shift(-0.6, 0.5), FoundDifference::inconclusive);
  EXPECT_EQ(shift(0.1, 0.6), FoundDifference::more);
  EXPECT_EQ(shift(-0.6, -0.1), FoundDifference::less);
}

TEST(Find, RefusesAMarginThatIsNone) {
  for (const double margin : {0.0, -0.1, nan_value, infinite})
    EXPECT_THAT(error_of([&] { find(with_interval(Scale::ratio, 1, 1), margin); }),
                HasSubstr("a margin must be above 0"));
}

TEST(BootstrapContrast, IsShownFromTwentyValuesOnEachSide) {
  std::vector<double> a, b;
  Random random(1, RandomStream::sample, 0, 0);
  for (int i = 0; i < 20; ++i) {
    a.push_back(std::exp(0.1 * random.normal()));
    b.push_back(2 * std::exp(0.1 * random.normal()));
  }
  for (const bool paired : {false, true}) {
    const auto interval = bootstrap_contrast(Scale::ratio, a, b, paired);
    ASSERT_TRUE(interval);
    const Contrast t = paired ? paired_contrast(Scale::ratio, a, b) : contrast(Scale::ratio, a, b);
    EXPECT_NEAR(interval->estimate, t.interval.estimate, 1e-9);
    EXPECT_NEAR(interval->low, t.interval.low, 0.05);
    EXPECT_NEAR(interval->high, t.interval.high, 0.05);
  }
  b.pop_back();
  EXPECT_FALSE(bootstrap_contrast(Scale::ratio, a, b, false));
  b.push_back(nan_value);
  EXPECT_FALSE(bootstrap_contrast(Scale::ratio, a, b, true)) << "19 pairs fit";
}

// Misses of the interval in `trials` seeded comparisons of values with normal logarithms.
int misses(int repeats, bool paired, double spread_b, int trials) {
  int missed = 0;
  constexpr double shift = 0.1;
  for (int trial = 0; trial < trials; ++trial) {
    Random random(7, RandomStream::sample, static_cast<std::uint64_t>(trial),
                  static_cast<std::uint64_t>(repeats));
    std::vector<double> a, b;
    for (int i = 0; i < repeats; ++i) {
      const double drift = paired ? 0.5 * i : 0;  // which pairs take out
      a.push_back(std::exp(drift + 0.03 * random.normal()));
      b.push_back(std::exp(drift + shift + spread_b * random.normal()));
    }
    const Interval interval =
        (paired ? paired_contrast(Scale::ratio, a, b) : contrast(Scale::ratio, a, b)).interval;
    if (interval.low > std::exp(shift) || interval.high < std::exp(shift)) ++missed;
  }
  return missed;
}

// Binomial, p = 0.05, 4000 trials: the mean is 200, four deviations are 55.
TEST(Contrast, HoldsTheTruthIn95Of100) {
  for (const int repeats : {2, 3, 5, 20}) {
    const int paired = misses(repeats, true, 0.03, 4000);
    EXPECT_NEAR(paired, 200, 55) << repeats << " pairs";
    // Welch's t is exact in the limit, and errs on the safe side with two values on each.
    const int apart = misses(repeats, false, 0.03, 4000);
    EXPECT_LT(apart, 255) << repeats << " on each side";
    EXPECT_GT(apart, repeats == 2 ? 40 : 130) << repeats << " on each side";
  }
}

TEST(Contrast, HoldsTheTruthWhereSpreadsDiffer) {
  for (const int repeats : {3, 5, 20})
    EXPECT_LT(misses(repeats, false, 0.3, 4000), 290) << repeats << " on each side";
}

}  // namespace
}  // namespace lockstep
