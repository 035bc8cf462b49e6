// Compares shares of small counts, such as failed jobs among all jobs. The methods are exact,
// because normal approximations fail for small counts.
#pragma once

#include <cstdint>

#include "core/media/bootstrap.h"
#include "tools/stats/comparison.h"

namespace lockstep {

struct Count {
  std::int64_t hits = 0, all = 0;  // 0 <= hits <= all; functions throw Error for any other values
};

// Returns the Clopper-Pearson interval of the share. If `all` is 0, the estimate is NaN, and the
// interval is 0 to 1.
Interval share_interval(const Count& count, double confidence = 0.95);

// Returns the p-value of Fisher's exact test, two-sided. It is the probability, if both shares are
// equal, of counts that are at most as likely as these.
double fisher_p(const Count& a, const Count& b);

// Returns `more` or `less` if p is below 1 - confidence; `more` means that B's share is larger.
// Returns `inconclusive` for any other p. Never returns `same`, because small counts cannot show
// that the shares are equal.
FoundDifference find(const Count& a, const Count& b, double confidence = 0.95);

// Counts for a comparison of the same items on both sides, such as jobs of two batches. a, b:
// numbers of items that are hits only in A, or only in B.
struct OneSided {
  std::int64_t a = 0, b = 0;  // functions throw Error for negative numbers
};

// Returns the p-value of McNemar's exact test, two-sided. The null hypothesis is that an item with
// a hit on only one side has it on either side with the same probability. The result is then the
// probability of counts that are at least as unequal. Returns 1 if no item is a hit on only one
// side.
double mcnemar_p(const OneSided& hits);

// Returns `more` or `less` if p is below 1 - confidence; `more` means that B has more hits. Returns
// `inconclusive` for any other p.
FoundDifference find(const OneSided& hits, double confidence = 0.95);

}  // namespace lockstep
