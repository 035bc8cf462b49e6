// Measures the times of a run's parts (part_times.h) from the run's events.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "runtime/run/progress/part_times.h"

namespace lockstep {

class RunTimes {
 public:
  void on_event(const nlohmann::json& event);
  // Returns means over the events since the newest "start" event; 0 for a part that did not occur.
  // start_s includes the first step. step_s leaves out that step, and one-time work such as the
  // capture of CUDA graphs.
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
  // seconds of one-time work within the steps that are logged next; at first, the whole first step
  double once_s_ = 0;
  std::int64_t step_ = 0;
  bool is_first_window_ = true, evaluation_was_given_up_ = false;
  Sum steps_, evaluations_, saves_;
};

}  // namespace lockstep
