// From options to a schedule: the rate scaled to the global batch, epochs turned into steps, and
// the number of steps of the run.
#pragma once

#include "planning/options/train_options.h"
#include "planning/schedule/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The steps of a number of epochs, rounded up. The result may be too large for any integer type.
double steps_of_epochs(double epochs, std::int64_t steps_per_epoch);

// The smaller of stop.steps and stop.epochs in steps, at least 1. Throws Error if neither is set,
// or if epochs are asked for and their length is not known (steps_per_epoch = 0).
std::int64_t count_steps(const TrainOptions& options, std::int64_t steps_per_epoch);

// optimizer.lr after scale_lr for this global batch. Throws Error without optimizer.base_batch.
double scaled_rate(const TrainOptions& options, std::int64_t global);

// Throws Error for an impossible curve.
Schedule make_schedule(const TrainOptions& options, std::int64_t global,
                       std::int64_t steps_per_epoch, std::int64_t total_steps);

}  // namespace lockstep
