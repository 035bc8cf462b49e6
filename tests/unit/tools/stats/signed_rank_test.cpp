// The signed-rank test, against published values and counting all signs.
#include "tools/stats/signed_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lockstep {
namespace {

TEST(SignedRankTest, IsThatOfTheExampleOfSciPy) {
  // scipy.stats.wilcoxon: Darwin's plants, statistic 24.
  const std::vector<double> plants = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
  const SignedRank found = signed_rank(plants);
  EXPECT_NEAR(found.p, 0.041259765625, 1e-12);
  EXPECT_EQ(found.more, 13);
  EXPECT_EQ(found.less, 2);
}

TEST(SignedRankTest, LeavesOutPairsThatAreEqualAndSharesRanks) {
  const SignedRank found =
      signed_rank(std::vector<double>{1, 1, 2, -1, 3, 3, -2, 0, 5, std::nan("")});
  EXPECT_NEAR(found.p, 0.140625, 1e-12) << "by counting all 256 signs";
  EXPECT_EQ(found.same, 1);
}

TEST(SignedRankTest, OfTwoPairsThatDifferTellsNothing) {
  std::vector<double> differences(34, 0.0);
  differences.insert(differences.end(), {0.01, 0.02});
  EXPECT_DOUBLE_EQ(signed_rank(differences).p, 0.5);
  EXPECT_EQ(signed_rank(std::vector<double>(36, 0.0)).p, 1);
  EXPECT_EQ(signed_rank({}).p, 1);
}

TEST(SignedRankTest, OfManyPairsIsTheNormalOne) {
  std::vector<double> differences, tied;
  for (int i = 1; i <= 120; ++i) {
    differences.push_back(i % 3 == 0 ? -i : i);
    tied.push_back(i <= 30 ? -1 : 1);
  }
  EXPECT_NEAR(signed_rank(differences).p, 0.002183428163854, 1e-9);
  EXPECT_NEAR(signed_rank(tied).p, 4.320463e-8, 1e-12);
}

}  // namespace
}  // namespace lockstep
