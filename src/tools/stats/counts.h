// Shares of small counts, such as failed jobs among all. The methods are exact, since normal
// approximations fail for small counts.
#pragma once

#include <cstdint>

#include "core/media/bootstrap.h"
#include "tools/stats/comparison.h"

namespace lockstep {

struct Count {
  std::int64_t hits = 0, all = 0;  // 0 <= hits <= all, or Error
};

// Clopper-Pearson interval. If `all` is 0, the estimate is NaN, and the interval is 0 to 1.
Interval share_interval(const Count& count, double confidence = 0.95);

// Fisher's exact test, two-sided: if both shares are equal, the probability of counts that are as
// unlikely as these, or more so.
double fisher_p(const Count& a, const Count& b);

// more: B's share is larger and p is below 1 - confidence. Never `same`: few counts cannot tell.
FoundDifference find(const Count& a, const Count& b, double confidence = 0.95);

// Compares the same items on both sides, such as jobs of two batches. Counts the items that are
// hits on one side only.
struct OneSided {
  std::int64_t a = 0, b = 0;  // not negative, or Error
};

// McNemar's exact test, two-sided. It assumes that an item that is a hit on only one side is
// equally likely on either. Returns the probability of counts at least as unequal; 1 without such
// items.
double mcnemar_p(const OneSided& hits);

// more: B has more hits and p is below 1 - confidence. Never `same`.
FoundDifference find(const OneSided& hits, double confidence = 0.95);

}  // namespace lockstep
