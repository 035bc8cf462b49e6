// Side effects in an alternating trial that may spoil its result.
#pragma once

#include <optional>
#include <span>

#include "tools/stats/comparison.h"

namespace lockstep {

// Each ratio is set only if it differs from 1 by more than the margin, and its 95 % interval
// excludes 1.
struct TrialChecks {
  std::optional<double> drift;  // second half of the trial / first half, over both commands
  // command that ran second in its pair / command that ran first
  std::optional<double> second_place;
  // Deviations of the logarithms of each command. Set only if one is more than 3 times the other,
  // and at least 10 pairs show it.
  std::optional<double> spread_a, spread_b;
};

// Values above zero, in order of time; b_first[i] is 1 if B ran before A.
TrialChecks check_trial(std::span<const double> a, std::span<const double> b,
                        std::span<const char> b_first, double margin);

}  // namespace lockstep
