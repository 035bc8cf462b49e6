// Lets a program that runs as a job of `lockstep batch` report its results.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/run/folder/run_dir.h"

namespace lockstep {

// Adds a line {"results": results} to the file that the environment variable LOCKSTEP_EVENTS names.
// Does nothing if the variable is not set. results: an object of numbers and texts; null members
// are left out. Failures are ignored, so that no job fails because of them.
void report_to_batch(const nlohmann::json& results);

// The same for a program that trained a run. It reports the number of steps and the loss of the
// last step. The metrics of the last evaluation are "eval.NAME". The metrics of the best evaluation
// are "best.NAME", and its step is "best_step".
void report_training_to_batch(const RunDir& run);

}  // namespace lockstep
