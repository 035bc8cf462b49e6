// Shares of small counts, such as failed jobs among all. Methods are exact, since counts are small.
#pragma once

#include <cstdint>

#include "core/media/bootstrap.h"
#include "tools/stats/comparison.h"

namespace lockstep {

struct Count {
  std::int64_t hits = 0, all = 0;  // 0 <= hits <= all, or Error
};

// Clopper-Pearson interval. If all is 0, NaN between 0 and 1.
Interval share_interval(const Count& count, double confidence = 0.95);

// Fisher's exact test, two-sided: the chance of counts at least as unlikely if both shares are
// equal.
double fisher_p(const Count& a, const Count& b);

// more: B's share is larger and p is below 1 - confidence. Never `same`: few counts cannot tell.
FoundDifference find(const Count& a, const Count& b, double confidence = 0.95);

// For the same items on both sides, such as jobs of two batches: items that are hits on one side
// only.
struct OneSided {
  std::int64_t a = 0, b = 0;  // not negative, or Error
};

// McNemar's exact test, two-sided: the chance of counts at least as lopsided, if an item that is a
// hit on one side only is equally likely on either. 1 without such items.
double mcnemar_p(const OneSided& hits);

// more: B has more hits and p is below 1 - confidence. Never `same`.
FoundDifference find(const OneSided& hits, double confidence = 0.95);

}  // namespace lockstep
