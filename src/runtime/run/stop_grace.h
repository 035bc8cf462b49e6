// Decides how long ranks may take to stop after a signal, before they are killed.
#pragma once

#include "runtime/run/folder/run_dir.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Learns the longest times of a step, an evaluation and a save from a run's events. In the worst
// case, the signal comes at the start of a step. An evaluation follows that step, and then the run
// saves a checkpoint.
class StopGrace {
 public:
  // given_s: the option stop.grace; 0 = derive the time from the events. checkpoint_bytes: an upper
  // bound of a checkpoint's size, which is used until a save was seen.
  StopGrace(double given_s, double checkpoint_bytes)
      : given_s_(given_s), checkpoint_bytes_(checkpoint_bytes) {}
  void learn_from(const RunDir& run);  // learns from evaluations and saves before this resume
  void on_event(const nlohmann::json& event);
  // Returns given_s if it is not 0. Otherwise, returns five times the sum of the longest step,
  // evaluation and save, but at least a minute. If no save was seen, its time is estimated for a
  // slow disk and is not multiplied by five.
  double seconds() const;

 private:
  double given_s_, checkpoint_bytes_;
  double step_s_ = 0, evaluation_s_ = 0, save_s_ = 0;
};

}  // namespace lockstep
