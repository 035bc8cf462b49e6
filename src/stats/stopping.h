// When a trial of two commands in turn ends, and in which order they run.
#pragma once

#include <cstdint>

#include "stats/comparison.h"

namespace lockstep {

enum class PairOrder { balanced, a_first };

// Whether B runs before A in that pair, counted from 0. balanced: of the pairs 2k and 2k + 1 one
// begins with A and the other with B; the seed draws which.
bool b_runs_first(PairOrder order, std::uint64_t seed, int pair);

struct StoppingRule {
  Scale scale = Scale::ratio;
  double margin = 0.02;
  double confidence = 0.95;
  int least_pairs = 10;  // fewer tell the spread too badly: intervals would end too narrow
};

// The half-width at which a trial ends, as a share of the margin. Below a half, so that two equal
// commands are called different by about 2 in 100 trials, and those that differ by the margin are
// found by more than 95 (97 where many pairs are needed).
inline constexpr double narrow_share = 0.45;

// Whether the interval is so narrow that no more pairs are needed; never because of where it lies.
// Asked after an even number of pairs, or both orders would not have run equally often.
bool narrow_enough(const Contrast& contrast, const StoppingRule& rule);

// Chance that a trial that ends so finds a difference of that true ratio (or difference). An
// approximation by the normal distribution, as exact as there are many pairs.
double chance_to_find(double effect, const StoppingRule& rule);

}  // namespace lockstep
