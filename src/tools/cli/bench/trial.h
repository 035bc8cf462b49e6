// Trains for a few seconds in a temporary folder, to measure the times of the parts of a run.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/progress/forecast.h"

namespace lockstep::cli {

// Trains for ten seconds on the plan's devices, evaluates for at most five seconds, and saves a
// checkpoint. setup: must be planned. Throws ToldAlready if the ranks fail or a signal comes.
// Throws Error if fewer than two steps fit into the ten seconds.
MeasuredTimes measure_times(const RunSetup& setup);

}  // namespace lockstep::cli
