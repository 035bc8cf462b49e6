// Side effects in an alternating trial that may spoil its result.
#pragma once

#include <optional>
#include <span>

#include "tools/stats/comparison.h"

namespace lockstep {

// Ratios above or below 1 by more than the margin, whose 95 % interval excludes 1.
struct TrialChecks {
  std::optional<double> drift;         // second half of the trial to the first, over both
  std::optional<double> second_place;  // the command that ran second in its pair to the one that
                                       // ran first
  // Deviations of the logarithms of each command. Set if one is above 3 times the other and 10
  // pairs or more show it.
  std::optional<double> spread_a, spread_b;
};

// Values above zero, in order of time; b_first[i] is 1 if B ran before A.
TrialChecks check_trial(std::span<const double> a, std::span<const double> b,
                        std::span<const char> b_first, double margin);

}  // namespace lockstep
