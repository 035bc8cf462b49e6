// How long a step takes in a short trial, whatever happens once in it: a pause of the machine, a
// graph that is captured, kernels that are loaded.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace lockstep {

// Seconds a step; 0: there were no two steps.
struct StepRange {
  double typical_s = 0;           // the median
  double fast_s = 0, slow_s = 0;  // of the quartiles
};

// Hears the events of a start that logs every step. The steps are cut into up to twenty stretches
// of equal length, and the quartiles are those of their means: what comes back every few steps, as
// a wait for data, is in all of them, and what happens once is in one.
class SteadySteps {
 public:
  void on_event(const nlohmann::json& event);
  StepRange range() const;

 private:
  std::vector<double> seconds_;  // of each step but the first
  bool is_first_ = true;
  std::size_t steady_from_ = 0;  // of seconds_: after the last graph that was captured
};

}  // namespace lockstep
