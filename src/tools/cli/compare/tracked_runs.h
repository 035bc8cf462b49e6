// `lockstep runs STORE`: shows the runs in the store of an experiment tracker, or one of these
// runs.
#pragma once

#include "tools/cli/arguments.h"

namespace lockstep::cli {

// If the operand names such a store or a run in it, shows it and returns true. Returns false for
// any other operand. Throws Error if the store cannot be read, or if a flag applies only to runs of
// Lockstep.
bool show_tracked_runs(const Parsed& parsed);

}  // namespace lockstep::cli
