// Actions that repeat every so many steps or epochs: evaluations, checkpoints.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>

namespace lockstep {

// A value of 0 is not set. With both values, an action is due when either says so.
struct StepInterval {
  std::int64_t steps = 0;
  double epochs = 0;
  std::int64_t steps_per_epoch = 0;  // needed by epochs

  // Whether something is due once `step` steps are done: at each multiple of `steps`, and at the
  // first step that completes a multiple of `epochs`. Pure.
  bool due(std::int64_t step) const;
  // About how many steps lie between two actions; 0: there are none.
  double mean_steps() const;
};

StepInterval evaluation_interval(const TrainOptions& options, std::int64_t steps_per_epoch);
StepInterval checkpoint_interval(const TrainOptions& options, std::int64_t steps_per_epoch);

// Throws Error if options count epochs whose length is not known, or if patience counts evaluations
// that never come.
void check_intervals(const TrainOptions& options, std::int64_t steps_per_epoch);

}  // namespace lockstep
