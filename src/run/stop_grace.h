// How long ranks may take to stop after a signal: as long as it takes to save, and more.
#pragma once

#include "run/run_dir.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Learns from a run's events how long its longest step, evaluation and save took: a signal may come
// at the beginning of a step, an evaluation may follow it, and a save ends it.
class StopGrace {
 public:
  // given_s: stop.grace; 0: found. checkpoint_bytes: at most, for as long as no save was seen.
  StopGrace(double given_s, double checkpoint_bytes)
      : given_s_(given_s), checkpoint_bytes_(checkpoint_bytes) {}
  void learn_from(const RunDir& run);  // its earlier starts
  void on_event(const nlohmann::json& event);
  // What was given; else a minute, or five times what these took together where that is more. A
  // save that was never seen counts as one to a slow disk.
  double seconds() const;

 private:
  double given_s_, checkpoint_bytes_;
  double step_s_ = 0, evaluation_s_ = 0, save_s_ = 0;
};

}  // namespace lockstep
