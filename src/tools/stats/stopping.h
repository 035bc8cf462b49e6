// Decides when a trial of two commands ends, and in which order the commands run.
#pragma once

#include <cstdint>

#include "tools/stats/comparison.h"

namespace lockstep {

enum class PairOrder { balanced, a_first };

// Whether B runs before A in a pair. pair: counts from 0. With `balanced`, one of the pairs 2k and
// 2k + 1 begins with A, and the other with B. The seed decides which one.
bool b_runs_first(PairOrder order, std::uint64_t seed, int pair);

struct StoppingRule {
  Scale scale = Scale::ratio;
  double margin = 0.02;
  double confidence = 0.95;
  // the least number of pairs; with fewer, the spread is poorly known, and intervals are too narrow
  int least_pairs = 10;
};

// The half-width at which a trial ends, as a share of the margin. It is below a half, so that only
// about 2 of 100 trials report a difference between two equal commands. If the commands differ by
// the margin, more than 95 of 100 trials find it, and 97 if many pairs are needed.
inline constexpr double narrow_share = 0.45;

// Whether the interval is narrow enough that no more pairs are needed. The position of the interval
// never matters. Returns false for fewer than least_pairs pairs. Also returns false for an odd
// number of pairs, because the two orders have then not run equally often.
bool narrow_enough(const Contrast& contrast, const StoppingRule& rule);

// Returns the probability that a trial with this rule detects a true ratio or difference of
// `effect`. It is a normal approximation, which is more exact with more pairs.
double chance_to_find(double effect, const StoppingRule& rule);

}  // namespace lockstep
