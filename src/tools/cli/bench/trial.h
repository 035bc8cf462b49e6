// Trains for a few seconds in a temporary folder, to measure the times of a run's parts.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/progress/forecast.h"

namespace lockstep::cli {

// Trains ten seconds on the plan's devices, evaluates for at most five, and saves. setup: planned.
// Throws ToldAlready if the ranks fail or a signal comes, and Error if not even two steps fit.
MeasuredTimes measure_times(const RunSetup& setup);

}  // namespace lockstep::cli
