// How long training took to get to a value of the chosen metric.
#pragma once

#include "report/facts.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct GoalTimes {
  double value = 0;
  std::string title;         // "time to loss <= 1.5"
  std::vector<double> a, b;  // seconds of training, of those that got there
};

// wanted: nothing means the worst of the trials' best values, to which all that have one got.
// Nothing where the trials have no curves, curves of different metrics, or it is not known which of
// lower and higher is better.
std::optional<GoalTimes> times_to_goal(const TrialGroup& a, const TrialGroup& b,
                                       std::optional<double> wanted);

}  // namespace lockstep
