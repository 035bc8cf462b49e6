// Forecasts the time of a run before it begins, and reports parts that do not fit into its quota of
// time (stop.after or stop.budget).
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/progress/forecast.h"
#include "tools/cli/train/then.h"

#include <optional>

namespace lockstep::cli {

// Call it for a planned setup, before a run begins or resumes. Sets stop.reserve as reserve_time
// does. Adds notes to the plan: the forecast, whether it fits into the quota, and the time of
// predictions. Stores the expected times in setup.times, for the ranks. items: the items that
// `then` predicts. trial: times of a short training that was just measured. The forecast is derived
// from `trial`, or else from an earlier run or trial, or else from the devices' peak FLOP/s.
// Returns the forecast, or nothing if none is possible.
std::optional<Forecast> foresee(RunSetup& setup, const Then& then, const ItemLoad& items,
                                const Begun& begun, const std::optional<MeasuredTimes>& trial = {});

// Returns text that compares the forecast in setup.times with the time that this start has taken.
// Returns "" if there was no forecast.
std::string forecast_and_truth(const RunSetup& setup);

}  // namespace lockstep::cli
