// When a trial that alternates two commands ends, and in which order they run.
#pragma once

#include <cstdint>

#include "tools/stats/comparison.h"

namespace lockstep {

enum class PairOrder { balanced, a_first };

// Whether B runs before A in that pair, counted from 0. balanced: one of the pairs 2k and 2k + 1
// begins with A and the other with B; the seed draws which.
bool b_runs_first(PairOrder order, std::uint64_t seed, int pair);

struct StoppingRule {
  Scale scale = Scale::ratio;
  double margin = 0.02;
  double confidence = 0.95;
  int least_pairs = 10;  // with fewer, the spread is poorly known, and intervals end too narrow
};

// The half-width at which a trial ends, as a share of the margin. It is below a half, so that about
// 2 in 100 trials call two equal commands different. More than 95 in 100 find commands that differ
// by the margin (97 if many pairs are needed).
inline constexpr double narrow_share = 0.45;

// Whether the interval is narrow enough to need no more pairs. Its position never matters. Call it
// after an even number of pairs; otherwise the two orders have not run equally often.
bool narrow_enough(const Contrast& contrast, const StoppingRule& rule);

// The probability that a trial that ends by this rule detects a true ratio (or difference) of
// `effect`. A normal approximation, which is more exact with more pairs.
double chance_to_find(double effect, const StoppingRule& rule);

}  // namespace lockstep
