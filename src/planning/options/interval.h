// Intervals in steps or epochs, for actions that repeat: evaluations and checkpoints.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>

namespace lockstep {

// `steps` or `epochs` is not set if it is 0. If both are set, an action is due when one of them is
// due.
struct StepInterval {
  std::int64_t steps = 0;
  double epochs = 0;
  std::int64_t steps_per_epoch = 0;  // needed by `epochs`

  // Whether an action is due after `step` finished steps. It is due at each multiple of `steps`,
  // and at the first step that completes a multiple of `epochs`. A pure function.
  bool due(std::int64_t step) const;
  // The approximate number of steps between two actions. 0 if neither `steps` nor `epochs` is set.
  double mean_steps() const;
};

StepInterval evaluation_interval(const TrainOptions& options, std::int64_t steps_per_epoch);
StepInterval checkpoint_interval(const TrainOptions& options, std::int64_t steps_per_epoch);

// Throws Error if options count epochs but the length of an epoch is unknown. Also throws Error if
// stop.patience is set but no evaluation comes before the end of the run.
void check_intervals(const TrainOptions& options, std::int64_t steps_per_epoch);

}  // namespace lockstep
