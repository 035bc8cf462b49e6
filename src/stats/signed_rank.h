// Wilcoxon's signed-rank test (Biometrics Bulletin 1945): whether pairs differ in one direction.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep {

struct SignedRank {
  std::int64_t more = 0, less = 0, same = 0;  // pairs of which the difference is above, below, 0
  // Two-sided: the chance of rank sums at least as lopsided where a difference of either sign is as
  // likely. 1 where no pair differs.
  double p = 1;
};

// differences: of independent pairs; those that are not finite are left out. Pairs without a
// difference say nothing of its direction and are left out of the test, as Wilcoxon did. Equal
// sizes share their ranks. Exact up to 100 pairs that differ, by the normal distribution above.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace lockstep
