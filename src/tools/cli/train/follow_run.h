// `lockstep runs RUN --follow`: prints the log of a run while it grows.
#pragma once

#include "runtime/run/folder/run_dir.h"

namespace lockstep::cli {

// Prints the end of RUN/logs/train.log, and new lines until the run ends. An interrupt ends only
// this command, not the run. Returns the exit code. Throws Error if the run has no such log.
int follow_run(const RunDir& run);

}  // namespace lockstep::cli
