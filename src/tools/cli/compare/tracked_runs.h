// lockstep runs STORE: shows the runs of an experiment tracker, or one of them.
#pragma once

#include "tools/cli/arguments.h"

namespace lockstep::cli {

// If the operand names such a store or a run in it, shows that and returns true. Throws Error if it
// cannot be read.
bool show_tracked_runs(const Parsed& parsed);

}  // namespace lockstep::cli
