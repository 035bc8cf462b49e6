// The time of a step in a short trial, robust against one-time events: a pause of the machine, the
// capture of a graph, loading kernels.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace lockstep {

// Seconds a step; 0 if there were fewer than two steps.
struct StepRange {
  double typical_s = 0;           // the median
  double fast_s = 0, slow_s = 0;  // the quartiles
};

// Takes the events of a start that logs every step. The steps are cut into up to twenty stretches
// of equal length; the quartiles are those of the stretches' means. Recurring delays, such as
// waiting for data, are in all stretches, and one-time events in one.
class SteadySteps {
 public:
  void on_event(const nlohmann::json& event);
  StepRange range() const;

 private:
  std::vector<double> seconds_;  // seconds of each step but the first
  bool is_first_ = true;
  std::size_t steady_from_ = 0;  // first index in seconds_ after the last captured graph
};

}  // namespace lockstep
