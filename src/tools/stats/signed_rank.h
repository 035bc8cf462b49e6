// Wilcoxon's signed-rank test (Biometrics Bulletin 1945). It tests whether pairs differ in one
// direction.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep {

struct SignedRank {
  // numbers of pairs whose difference is above 0, below 0, or exactly 0
  std::int64_t more = 0, less = 0, same = 0;
  // Two-sided p-value: the probability of rank sums that are at least as unequal, if both signs are
  // equally likely. 1 if no pair differs.
  double p = 1;
};

// differences: the differences of independent pairs; non-finite ones are left out. Pairs without a
// difference are left out of the test, as in Wilcoxon's paper. Differences of equal size share
// their ranks. The test is exact for up to 100 pairs that differ. For more pairs, it is a normal
// approximation.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace lockstep
