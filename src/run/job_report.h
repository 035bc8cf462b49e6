// What a program says of itself where it runs as a job of `lockstep batch`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "run/run_dir.h"

namespace lockstep {

// Adds a line {"results": results} to the file that the environment variable LOCKSTEP_EVENTS names,
// where it is set. results: an object of numbers and texts; null members are left out. A line that
// cannot be written is left out too: no work fails for it.
void report_to_batch(const nlohmann::json& results);

// Likewise of a training: steps, the loss of the last step, all metrics of the last evaluation as
// "eval.NAME", and of the best one as "best.NAME" with "best_step".
void report_training_to_batch(const RunDir& run);

}  // namespace lockstep
