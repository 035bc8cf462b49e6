// Training time until a value of the chosen metric was reached.
#pragma once

#include "tools/report/facts/facts.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct GoalTimes {
  double value = 0;
  std::string title;         // "time to loss <= 1.5"
  std::vector<double> a, b;  // seconds of training, for trials that reached it
};

// wanted: the value to reach. Nothing means the worst of the trials' best values, which every trial
// with a value has reached. Returns nothing if the trials have no curves or curves of different
// metrics, or if it is unknown whether lower or higher is better.
std::optional<GoalTimes> times_to_goal(const TrialGroup& a, const TrialGroup& b,
                                       std::optional<double> wanted);

}  // namespace lockstep
