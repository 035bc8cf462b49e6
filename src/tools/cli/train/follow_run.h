// lockstep runs RUN --follow: the log of a run as it grows.
#pragma once

#include "runtime/run/folder/run_dir.h"

namespace lockstep::cli {

// Prints the end of RUN/logs/train.log, and further lines until the run ends. Returns the exit code
// for a complete log, or for an interrupt, which ends only this command. Throws Error if the run
// has no such log.
int follow_run(const RunDir& run);

}  // namespace lockstep::cli
