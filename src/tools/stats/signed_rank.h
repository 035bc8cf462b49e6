// Wilcoxon's signed-rank test (Biometrics Bulletin 1945): whether pairs differ in one direction.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep {

struct SignedRank {
  std::int64_t more = 0, less = 0, same = 0;  // pairs whose difference is above, below, 0
  // Two-sided: the chance of rank sums at least as lopsided, if both signs are equally likely. 1 if
  // no pair differs.
  double p = 1;
};

// differences: of independent pairs; non-finite ones are left out. Pairs without a difference show
// no direction and are left out of the test, as in Wilcoxon's paper. Differences of equal size
// share their ranks. The test is exact up to 100 differing pairs; above, it is a normal
// approximation.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace lockstep
