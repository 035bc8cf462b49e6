// Forecasts a run's time before it begins, and reports parts that do not fit into its quota.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/progress/forecast.h"
#include "tools/cli/train/then.h"

#include <optional>

namespace lockstep::cli {

// For a planned setup, before a run begins or continues. Sets stop.reserve. Adds to the plan's
// notes the forecast, whether it fits into the quota, and the time of predictions. Stores in
// setup.times the times for the ranks. items: the items that `then` predicts. trial: a measurement
// just made, which takes precedence over remembered times. Returns the forecast, which comes from
// `trial`, an earlier run or trial, or the devices' peaks, in this order. Nothing if none is
// possible.
std::optional<Forecast> foresee(RunSetup& setup, const Then& then, const ItemLoad& items,
                                const Begun& begun, const std::optional<MeasuredTimes>& trial = {});

// Compares the forecast of such a run with its time so far; "" if there was none.
std::string forecast_and_truth(const RunSetup& setup);

}  // namespace lockstep::cli
