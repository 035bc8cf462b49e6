// Detects options of training in a command that only reads a run.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/plan/resolve.h"

namespace lockstep::cli {

// Throws Error if an assignment changes how long or how fast a run trains. That has no effect on
// `command`, which is "evaluate" or "predict". An assignment that repeats the run's own value is
// accepted. setup: the resolved setup of the run.
void check_no_training_options(const RunDir& run, const RunSetup& setup,
                               const std::vector<std::string>& assignments,
                               const std::string& command);

}  // namespace lockstep::cli
