// Measures the times of a run's parts from the events of a start.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "runtime/run/progress/part_times.h"

namespace lockstep {

class RunTimes {
 public:
  void on_event(const nlohmann::json& event);
  // Means over the newest start; 0 for a part that did not occur. Step times leave out the first
  // step, which belongs to the start, and one-time work such as the capture of CUDA graphs.
  PartTimes mean() const;

 private:
  struct Sum {
    double seconds = 0;
    std::int64_t count = 0;
    double mean() const { return count > 0 ? seconds / static_cast<double>(count) : 0; }
  };
  void on_step(const nlohmann::json& event);

  double start_s_ = 0;
  double begin_time_ = 0;  // the time of the "start" event
  // one-time seconds within the next logged steps; at first, those of the whole first step
  double once_s_ = 0;
  std::int64_t step_ = 0;
  bool is_first_window_ = true, evaluation_was_given_up_ = false;
  Sum steps_, evaluations_, saves_;
};

}  // namespace lockstep
