// The option restart = N: restarts a run after a rank has failed.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <cstdint>
#include <vector>

namespace lockstep::cli {

// Counts consecutive failures without progress between them.
class Restarts {
 public:
  explicit Restarts(std::int64_t allowed) : allowed_(allowed) {}
  // Counts a failure, and returns whether to restart. step: the step of the newest undamaged
  // checkpoint; 0 if there is none. A higher step than before is progress, and the count begins
  // again.
  bool once_more(std::int64_t step);
  std::int64_t count() const { return count_; }  // failures since the last progress

 private:
  std::int64_t allowed_, count_ = 0, reached_ = -1;
};

// step of the newest undamaged checkpoint; 0 if there is none
std::int64_t newest_good_step(const RunDir& run);

// Returns the setup that restarts `run`, and writes it into the run's record. The setup uses the
// devices of the failed start that still answer. before: the setup of the failed start; its
// stop.after and stop.reserve stay in force. Throws Error if no device answers, or if the global
// batch does not divide among the remaining devices.
RunSetup start_again(RunDir& run, const RunSetup& before);

}  // namespace lockstep::cli
