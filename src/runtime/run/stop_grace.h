// How long ranks may take to stop after a signal: the time of a step, an evaluation and a save,
// with a margin.
#pragma once

#include "runtime/run/folder/run_dir.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Learns the longest step, evaluation and save from a run's events. In the worst case, the signal
// comes at the start of a step, an evaluation follows the step, and then the run saves.
class StopGrace {
 public:
  // given_s: stop.grace; 0 = derived. checkpoint_bytes: an upper bound, used until a save was seen.
  StopGrace(double given_s, double checkpoint_bytes)
      : given_s_(given_s), checkpoint_bytes_(checkpoint_bytes) {}
  void learn_from(const RunDir& run);  // learns evaluations and saves of its earlier starts
  void on_event(const nlohmann::json& event);
  // The given time. If none is given, a minute, or five times the sum of the longest step,
  // evaluation and save if that is longer. If no save was seen, its time is estimated for a slow
  // disk and not multiplied.
  double seconds() const;

 private:
  double given_s_, checkpoint_bytes_;
  double step_s_ = 0, evaluation_s_ = 0, save_s_ = 0;
};

}  // namespace lockstep
