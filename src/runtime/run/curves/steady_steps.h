// The time of a step in a short trial. It is robust against one-time events, such as a pause of the
// machine, the capture of a CUDA graph, or loading kernels.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace lockstep {

// Seconds per step; 0 if there were fewer than two steps.
struct StepRange {
  double typical_s = 0;           // the median
  double fast_s = 0, slow_s = 0;  // the quartiles
};

// Takes the events of a start that logs every step. The steps are cut into up to twenty stretches
// of equal length. The median and quartiles are those of the stretches' means. Recurring delays,
// such as waiting for data, are in all stretches. A one-time event is in only one.
class SteadySteps {
 public:
  void on_event(const nlohmann::json& event);
  StepRange range() const;

 private:
  std::vector<double> seconds_;  // time of each step except the first
  bool is_first_ = true;
  std::size_t steady_from_ = 0;  // the first index in seconds_ after the last captured graph
};

}  // namespace lockstep
