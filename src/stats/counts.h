// Shares of few things: jobs that failed, of all; with exact methods, since the counts are small.
#pragma once

#include <cstdint>

#include "media/bootstrap.h"
#include "stats/comparison.h"

namespace lockstep {

struct Count {
  std::int64_t hits = 0, all = 0;  // 0 <= hits <= all, else Error
};

// Clopper-Pearson. Without anything counted, NaN between 0 and 1.
Interval share_interval(const Count& count, double confidence = 0.95);

// Fisher's exact test, two-sided: the chance of counts at least as unlikely where both shares are
// the same.
double fisher_p(const Count& a, const Count& b);

// more: B's share is larger and p is below 1 - confidence. Never `same`: few counts cannot tell.
FoundDifference find(const Count& a, const Count& b, double confidence = 0.95);

// The same things on both sides, such as jobs of two batches: how many are hits of one side alone.
struct OneSided {
  std::int64_t a = 0, b = 0;  // not negative, else Error
};

// McNemar's exact test, two-sided: the chance of being at least as lopsided where a thing that is
// a hit of one side alone is so of either with the same chance. 1 where there is none.
double mcnemar_p(const OneSided& hits);

// more: B has more hits and p is below 1 - confidence. Never `same`.
FoundDifference find(const OneSided& hits, double confidence = 0.95);

}  // namespace lockstep
