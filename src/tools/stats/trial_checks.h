// Detects side effects that may falsify the result of a trial. In a trial, two commands A and B run
// alternately, in pairs.
#pragma once

#include <optional>
#include <span>

#include "tools/stats/comparison.h"

namespace lockstep {

// No member is set for fewer than 10 pairs. Each ratio is set only if it differs from 1 by more
// than `margin`, and its 95 % interval excludes 1.
struct TrialChecks {
  // Ratio of the values in the second half of the trial to those in the first half, for both
  // commands together.
  std::optional<double> drift;
  // Ratio of the values of commands that ran second in their pair to the values of commands that
  // ran first. Set only if both orders ran equally often.
  std::optional<double> second_place;
  // Standard deviations of the logarithms of each command's values. Set only if one is more than 3
  // times the other.
  std::optional<double> spread_a, spread_b;
};

// a, b: values above zero, in the order of time. b_first[i] is 1 if B ran before A in pair i.
TrialChecks check_trial(std::span<const double> a, std::span<const double> b,
                        std::span<const char> b_first, double margin);

}  // namespace lockstep
