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
Finding find(const Count& a, const Count& b, double confidence = 0.95);

}  // namespace lockstep
