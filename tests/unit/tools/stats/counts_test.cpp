// Exact methods for counts, against published values.
#include "tools/stats/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

TEST(ShareInterval, IsThatOfTheTables) {
  // Clopper and Pearson (1934); R: binom.test(x, n)$conf.int.
  struct Row {
    Count count;
    double low, high;
  };
  for (const Row& row : {Row{{0, 10}, 0, 0.3084971}, Row{{10, 10}, 0.6915029, 1},
                         Row{{1, 10}, 0.002528579, 0.4450161}, Row{{5, 10}, 0.1870860, 0.8129140},
                         Row{{0, 36}, 0, 0.0973898}, Row{{2, 36}, 0.006800, 0.186634},
                         Row{{682, 925}, 0.7076683, 0.7654066}}) {
    const Interval interval = share_interval(row.count);
    EXPECT_NEAR(interval.low, row.low, 1e-5) << row.count.hits << " of " << row.count.all;
    EXPECT_NEAR(interval.high, row.high, 1e-5) << row.count.hits << " of " << row.count.all;
  }
  EXPECT_DOUBLE_EQ(share_interval({2, 36}).estimate, 2.0 / 36);
}

TEST(ShareInterval, OfNothingIsEverything) {
  const Interval interval = share_interval({0, 0});
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 1);
  EXPECT_TRUE(std::isnan(interval.estimate));
}

TEST(ShareInterval, HoldsTheTruthAtLeastIn95Of100ByTheExactSum) {
  for (const double share : {0.02, 0.1, 0.5, 0.77}) {
    constexpr int all = 30;
    double held = 0;
    for (int hits = 0; hits <= all; ++hits) {
      const Interval interval = share_interval({hits, all});
      if (interval.low > share || interval.high < share) continue;
      held += std::exp(std::lgamma(all + 1) - std::lgamma(hits + 1) - std::lgamma(all - hits + 1) +
                       hits * std::log(share) + (all - hits) * std::log1p(-share));
    }
    EXPECT_GE(held, 0.95) << share;
  }
}

TEST(Counts, RefusesThatWhichIsNone) {
  EXPECT_EQ(error_of([] {
              share_interval({3, 2});
            }),
            "a count must be between 0 and the number of all, but is 3 of 2 | ");
  EXPECT_EQ(error_of([] {
              fisher_p({-1, 2}, {1, 2});
            }),
            "a count must be between 0 and the number of all, but is -1 of 2 | ");
}

TEST(Fisher, IsThatOfTheTea) {
  // Fisher (1935), The Design of Experiments: 3 of 4 cups right; one-sided 0.2429, two-sided twice.
  EXPECT_NEAR(fisher_p({3, 4}, {1, 4}), 0.4857143, 1e-7);
  EXPECT_NEAR(fisher_p({4, 4}, {0, 4}), 2.0 / 70, 1e-12);
}

TEST(Fisher, IsRsOnOtherTables) {
  // Convictions of like-sex twins (Fisher 1962), R: fisher.test(matrix(c(2, 10, 15, 3), 2)).
  EXPECT_NEAR(fisher_p({2, 17}, {10, 13}), 0.0005367241, 1e-9);
  EXPECT_NEAR(fisher_p({2, 36}, {0, 36}), 0.4929577, 1e-6);
  EXPECT_NEAR(fisher_p({0, 10}, {0, 20}), 1, 1e-12);
  EXPECT_NEAR(fisher_p({0, 0}, {3, 20}), 1, 1e-12);
}

TEST(Fisher, TurnsRoundWhereAAndBChangePlaces) {
  for (int hits_a = 0; hits_a <= 9; ++hits_a)
    for (int hits_b = 0; hits_b <= 13; ++hits_b)
      EXPECT_NEAR(fisher_p({hits_a, 9}, {hits_b, 13}), fisher_p({hits_b, 13}, {hits_a, 9}), 1e-12);
}

TEST(Fisher, TakesMillions) {
  EXPECT_NEAR(fisher_p({500'000, 1'000'000}, {500'000, 1'000'000}), 1, 1e-9);
  // The normal approximation, z = 2.8284: 0.00468.
  EXPECT_NEAR(fisher_p({500'000, 1'000'000}, {502'000, 1'000'000}), 0.00468, 2e-5);
  EXPECT_LT(fisher_p({0, 1'000'000'000}, {1'000'000, 1'000'000'000}), 1e-100);
}

// R: binom.test(min(b, c), b + c)$p.value, which is what mcnemar.exact of exact2x2 gives.
TEST(McNemar, IsTheSignTestOfThoseThatDiffer) {
  EXPECT_NEAR(mcnemar_p({0, 5}), 2.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar_p({0, 6}), 2.0 / 64, 1e-12);
  EXPECT_NEAR(mcnemar_p({1, 9}), 22.0 / 1024, 1e-12);
  EXPECT_EQ(mcnemar_p({0, 0}), 1);
  EXPECT_EQ(mcnemar_p({4, 4}), 1);
  // Agresti (1990), approval of the prime minister, 86 and 150: R gives 3.716e-05.
  EXPECT_NEAR(mcnemar_p({86, 150}), 3.716e-05, 5e-9);
  EXPECT_EQ(mcnemar_p({150, 86}), mcnemar_p({86, 150}));
  EXPECT_EQ(error_of([] { mcnemar_p({-1, 2}); }), "a count must not be negative, but is -1 | ");
}

TEST(McNemar, TakesMillions) {
  EXPECT_NEAR(mcnemar_p({500'000, 500'000}), 1, 1e-9);
  // The normal approximation with a correction for continuity, z = 2.827: 0.0047.
  EXPECT_NEAR(mcnemar_p({500'000, 502'831}), 0.00472, 1e-4);
  EXPECT_LT(mcnemar_p({0, 1'000'000}), 1e-300);
  EXPECT_LT(mcnemar_p({400'000'000, 600'000'000}), 1e-100);
}

TEST(McNemar, FindsTheSideThatHasMore) {
  EXPECT_EQ(find(OneSided{0, 5}), FoundDifference::inconclusive);
  EXPECT_EQ(find(OneSided{0, 6}), FoundDifference::more);
  EXPECT_EQ(find(OneSided{6, 0}), FoundDifference::less);
  EXPECT_EQ(find(OneSided{0, 0}), FoundDifference::inconclusive);
}

TEST(FindOfCounts, NeverSaysThatFewAreTheSame) {
  EXPECT_EQ(find(Count{2, 36}, Count{0, 36}), FoundDifference::inconclusive);
  EXPECT_EQ(find(Count{0, 36}, Count{0, 36}), FoundDifference::inconclusive);
  EXPECT_EQ(find(Count{0, 36}, Count{12, 36}), FoundDifference::more);
  EXPECT_EQ(find(Count{12, 36}, Count{0, 36}), FoundDifference::less);
  EXPECT_EQ(find(Count{0, 0}, Count{12, 36}), FoundDifference::inconclusive);
}

}  // namespace
}  // namespace lockstep
