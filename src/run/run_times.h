// What the parts of a run took, from the events of a start.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "run/part_times.h"

namespace lockstep {

class RunTimes {
 public:
  void on_event(const nlohmann::json& event);
  // Of the newest start; 0 where there was no such part. Steps are all but the first, which is part
  // of the start, without what happens once: graphs that are captured.
  PartTimes mean() const;

 private:
  struct Sum {
    double seconds = 0;
    std::int64_t count = 0;
    double mean() const { return count > 0 ? seconds / static_cast<double>(count) : 0; }
  };
  void on_step(const nlohmann::json& event);

  double start_s_ = 0;
  double begin_time_ = 0;  // of the start, as its event says
  double once_s_ = 0;      // in the first logged steps, and of them all the first step
  std::int64_t step_ = 0;
  bool is_first_window_ = true, evaluation_was_given_up_ = false;
  Sum steps_, evaluations_, saves_;
};

}  // namespace lockstep
