// Things that come back every so many steps or epochs: evaluations, checkpoints.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>

namespace lockstep {

// steps and epochs of 0 say nothing; with both, what either says.
struct StepInterval {
  std::int64_t steps = 0;
  double epochs = 0;
  std::int64_t steps_per_epoch = 0;  // needed by epochs

  // Whether something is due once `step` steps are done: at each multiple of `steps`, and at the
  // first step that completes a multiple of `epochs`. Pure.
  bool due(std::int64_t step) const;
  // About how many steps lie between two; 0: it never comes.
  double mean_steps() const;
};

StepInterval evaluation_interval(const TrainOptions& options, std::int64_t steps_per_epoch);
StepInterval checkpoint_interval(const TrainOptions& options, std::int64_t steps_per_epoch);

// Throws Error where options count epochs whose length is not known, and where patience counts
// evaluations that never come.
void check_intervals(const TrainOptions& options, std::int64_t steps_per_epoch);

}  // namespace lockstep
