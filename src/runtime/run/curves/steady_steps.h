// The time of a step in a trial, which is a run of a few steps to measure their time. One-time
// events, such as a pause of the machine or the capture of a CUDA graph, hardly change the result.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace lockstep {

// Seconds per step; 0 if there were fewer than two steps.
struct StepRange {
  double typical_s = 0;           // the median
  double fast_s = 0, slow_s = 0;  // the quartiles
};

// Reads the events of a trial, in which every step is logged. Divides the steps into up to twenty
// parts of equal length. `range` has the median and the quartiles of the mean step times of these
// parts. Recurring delays, such as waiting for data, are in all parts. A one-time event is in only
// one part.
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
