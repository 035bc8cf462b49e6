// How long ranks may take to stop after a signal: the time it takes to save, and some more.
#pragma once

#include "runtime/run/folder/run_dir.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Learns from a run's events how long its longest step, evaluation and save took. A signal may come
// at the start of a step; an evaluation may follow the step, and a save ends it.
class StopGrace {
 public:
  // given_s: stop.grace; 0: derived. checkpoint_bytes: upper bound, used until a save was seen.
  StopGrace(double given_s, double checkpoint_bytes)
      : given_s_(given_s), checkpoint_bytes_(checkpoint_bytes) {}
  void learn_from(const RunDir& run);  // learns from its earlier starts
  void on_event(const nlohmann::json& event);
  // The given time. Otherwise a minute, or five times the sum of longest step, evaluation and save
  // if that is longer. A save that was never seen is estimated for a slow disk.
  double seconds() const;

 private:
  double given_s_, checkpoint_bytes_;
  double step_s_ = 0, evaluation_s_ = 0, save_s_ = 0;
};

}  // namespace lockstep
