// Computes the training time until the chosen metric reached a value.
#pragma once

#include "tools/report/facts/facts.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct GoalTimes {
  double value = 0;
  std::string title;         // such as "time to loss <= 1.5"
  std::vector<double> a, b;  // seconds of training, for the trials that reached the value
};

// wanted: the value to reach. Without it, the value is the worst of the trials' best values, which
// every trial with a value has reached. Trials without a curve are ignored. Returns nothing if a
// side has no trial with a curve, or if the curves are of different metrics. Also returns nothing
// if it is unknown whether lower or higher values are better.
std::optional<GoalTimes> times_to_goal(const TrialGroup& a, const TrialGroup& b,
                                       std::optional<double> wanted);

}  // namespace lockstep
