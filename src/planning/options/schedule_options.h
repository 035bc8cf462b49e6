// Makes a schedule from the options: scales the rate to the global batch, converts epochs to steps,
// and computes the number of steps of the run.
#pragma once

#include "planning/options/train_options.h"
#include "planning/schedule/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The number of steps in `epochs` epochs, rounded up. The result is a double because it may exceed
// every integer type.
double steps_of_epochs(double epochs, std::int64_t steps_per_epoch);

// The smaller of stop.steps and stop.epochs, in steps, at least 1. Throws Error if neither option
// is set. Also throws Error if stop.epochs is set but steps_per_epoch is 0, which means unknown.
std::int64_t count_steps(const TrainOptions& options, std::int64_t steps_per_epoch);

// optimizer.lr after scale_lr for this global batch. Throws Error if scale_lr is set without
// optimizer.base_batch.
double scaled_rate(const TrainOptions& options, std::int64_t global);

// Throws Error if the curve is not valid, or if epochs are used but their length is unknown.
Schedule make_schedule(const TrainOptions& options, std::int64_t global,
                       std::int64_t steps_per_epoch, std::int64_t total_steps);

}  // namespace lockstep
