// restart = N: starting a run again after a rank failed.
#pragma once

#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <cstdint>
#include <vector>

namespace lockstep::cli {

// Counts failures without progress in between.
class Restarts {
 public:
  explicit Restarts(std::int64_t allowed) : allowed_(allowed) {}
  // After a failure, the newest good checkpoint being of `step` (0: none): whether once more.
  bool once_more(std::int64_t step);
  std::int64_t count() const { return count_; }  // since the last progress

 private:
  std::int64_t allowed_, count_ = 0, reached_ = -1;
};

std::int64_t newest_good_step(const RunDir& run);  // 0: no good checkpoint

// The setup with which `run` starts again on those of `devices` that still answer, written down.
// before: of the start that failed, whose stop.after and stop.reserve go on. Throws Error if no
// device answers or the global batch does not divide into those that do.
RunSetup start_again(RunDir& run, const RunSetup& before);

}  // namespace lockstep::cli
