// How many repeats, and what they find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/philox.h"
#include "tools/stats/comparison.h"

namespace lockstep {
namespace {

TEST(Power, IsRsOfTwoGroupsAndOfPairs) {
  // R: power.t.test(n = 20, delta = 1, sd = 1, strict = TRUE), 0.8689528; type = "paired",
  // n = 10: 0.8030962.
  EXPECT_NEAR(power(Scale::difference, 1, 1, 20, false), 0.8689528, 1e-5);
  EXPECT_NEAR(power(Scale::difference, 1, 1, 10, true), 0.8030962, 1e-4);
  EXPECT_NEAR(power(Scale::difference, -1, 1, 20, false), 0.8689528, 1e-5);
  EXPECT_NEAR(power(Scale::ratio, std::exp(1), 1, 20, false), 0.8689528, 1e-5);
}

TEST(Power, WithoutAnEffectIsTheShareOfFalseAlarms) {
  for (const int repeats : {2, 5, 50})
    EXPECT_NEAR(power(Scale::ratio, 1, 0.1, repeats, true), 0.05, 1e-6);
}

TEST(Power, IsKnownAtTheEdges) {
  EXPECT_EQ(power(Scale::ratio, 1.1, 0.1, 1, true), 0) << "one pair has no interval";
  EXPECT_EQ(power(Scale::ratio, 1.1, 0, 2, true), 1);
  EXPECT_EQ(power(Scale::ratio, 1, 0, 2, true), 0);
  EXPECT_EQ(power(Scale::ratio, 0, 0.1, 5, true), 0) << "no ratio";
  EXPECT_NEAR(power(Scale::ratio, 100, 0.001, 1000, true), 1, 1e-12);
}

TEST(Power, IsWhatSeededTrialsFind) {
  constexpr int trials = 3000, repeats = 8;
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Random random(3, RandomStream::sample, static_cast<std::uint64_t>(trial), 0);
    std::vector<double> a, b;
    for (int i = 0; i < repeats; ++i) a.push_back(std::exp(0.02 * random.normal()));
    for (int i = 0; i < repeats; ++i) b.push_back(1.03 * std::exp(0.02 * random.normal()));
    const Interval interval = contrast(Scale::ratio, a, b).interval;
    if (interval.low > 1 || interval.high < 1) ++found;
  }
  const double stated = power(Scale::ratio, 1.03, 0.02, repeats, false);
  EXPECT_NEAR(found / static_cast<double>(trials), stated,
              4 * std::sqrt(stated * (1 - stated) / trials) + 0.01);
}

Contrast seen(double ratio, double spread, bool paired) {
  Contrast made;
  made.interval = {ratio * 0.9, ratio, ratio * 1.1};
  made.spread = spread;
  made.paired = paired;
  return made;
}

TEST(RepeatsNeeded, BringsTheHalfWidthDownToWhatDecides) {
  // No difference seen: half of the margin.
  const int same = *repeats_needed(seen(1, 0.03, true), 0.02);
  EXPECT_NEAR(same, std::pow(1.96 * 0.03 / (std::log(1.02) / 2), 2), 4);
  // 10 % seen: half of that.
  const int differs = *repeats_needed(seen(1.1, 0.03, true), 0.02);
  EXPECT_LT(differs, 6);
  EXPECT_GE(differs, 2);
  // Half the margin seen is the worst.
  EXPECT_GT(*repeats_needed(seen(std::sqrt(1.02), 0.03, true), 0.02), 3 * same);
  EXPECT_NEAR(*repeats_needed(seen(1, 0.03, false), 0.02), 2 * same, 4)
      << "groups apart need twice as many on each side";
}

TEST(RepeatsNeeded, EndsAtAMillion) {
  EXPECT_EQ(*repeats_needed(seen(1, 1000, true), 1e-6), 1'000'000);
}

TEST(RepeatsForWidth, AreTheFewestThatDo) {
  for (const double spread : {0.01, 0.05, 0.3}) {
    const int repeats = repeats_for_width(spread, 0.01, true);
    const auto half = [&](int n) {
      std::vector<double> a(static_cast<std::size_t>(n), 0.0), b;
      // n values of that sample deviation.
      const double apart = spread * std::sqrt((n - 1) / (2.0 * (n / 2)));
      for (int i = 0; i < n; ++i) b.push_back(i == n - 1 && n % 2 ? 0 : (i % 2 ? apart : -apart));
      return half_width(paired_contrast(Scale::difference, a, b));
    };
    EXPECT_LE(half(repeats), 0.01 * (1 + 1e-9));
    EXPECT_GT(half(repeats - 1), 0.01);
  }
}

TEST(SampleSize, TheMostIsSaidToBeMore) {
  EXPECT_EQ(repeats_words(12), "about 12");
  EXPECT_EQ(repeats_words(most_repeats), "more than 999,999");
}

}  // namespace
}  // namespace lockstep
