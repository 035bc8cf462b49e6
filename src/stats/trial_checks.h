// What a trial in turn shows besides its result, and may spoil it.
#pragma once

#include <optional>
#include <span>

#include "stats/comparison.h"

namespace lockstep {

// Ratios that are above 1, or below, by more than the margin, and whose 95 % interval leaves 1.
struct TrialChecks {
  std::optional<double> drift;         // of the second half of the trial to the first, of both
  std::optional<double> second_place;  // of whoever ran second in its pair to who ran first
  // Deviations of the logarithms of each, where one is above 3 times the other and 10 pairs or more
  // tell so.
  std::optional<double> spread_a, spread_b;
};

// Values above zero, in the order of time; b_first[i] is 1 where B ran before A.
TrialChecks check_trial(std::span<const double> a, std::span<const double> b,
                        std::span<const char> b_first, double margin);

}  // namespace lockstep
