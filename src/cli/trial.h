// A few seconds of a run in a temporary folder, to see how long its parts take.
#pragma once

#include "plan/run_setup.h"
#include "run/forecast.h"

namespace lockstep::cli {

// Trains ten seconds on the plan's devices, evaluates for five at most, and saves. setup: planned.
// Throws ToldAlready if the ranks fail or a signal comes, Error if not even two steps fit.
MeasuredTimes measure_times(const RunSetup& setup);

}  // namespace lockstep::cli
