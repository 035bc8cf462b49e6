// lockstep runs RUN --follow: the log of a run as it grows.
#pragma once

#include "run/run_dir.h"

namespace lockstep::cli {

// Prints the end of RUN/logs/train.log, and what is added to it until the run ends. Returns the
// exit code: of an interrupt, which ends nothing else, or that of having seen the end. Throws Error
// where the run has no such log.
int follow_run(const RunDir& run);

}  // namespace lockstep::cli
