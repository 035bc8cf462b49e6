// restart = N: restarts a run after a rank failed.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <cstdint>
#include <vector>

namespace lockstep::cli {

// Counts failures that have no progress between them.
class Restarts {
 public:
  explicit Restarts(std::int64_t allowed) : allowed_(allowed) {}
  // Whether to restart after a failure. step: the step of the newest good checkpoint (0: none).
  bool once_more(std::int64_t step);
  std::int64_t count() const { return count_; }  // since the last progress

 private:
  std::int64_t allowed_, count_ = 0, reached_ = -1;
};

std::int64_t newest_good_step(const RunDir& run);  // 0: no good checkpoint

// Returns, and records, the setup that restarts `run` on those of `devices` that still answer.
// before: the setup of the failed start, whose stop.after and stop.reserve stay in force. Throws
// Error if no device answers, or if the global batch does not divide among the devices that do.
RunSetup start_again(RunDir& run, const RunSetup& before);

}  // namespace lockstep::cli
