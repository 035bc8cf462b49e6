// How long a run will take, said before it begins, and what does not fit into its quota.
#pragma once

#include "cli/then.h"
#include "plan/run_setup.h"
#include "run/forecast.h"

#include <cstdint>
#include <optional>

namespace lockstep::cli {

// Of a setup that is planned, before a run begins at first_step: decides stop.reserve, adds to the
// plan's notes the forecast, whether it fits into the quota and what predictions take, and leaves
// in setup.times what the ranks are to know. items: that `then` predicts. trial: what was just
// measured, which goes before what is remembered. Returns the forecast: by `trial`, else by an
// earlier run or trial, else by the devices' peaks, else nothing.
std::optional<Forecast> foresee(RunSetup& setup, const Then& then, std::int64_t items,
                                std::int64_t first_step,
                                const std::optional<MeasuredTimes>& trial = {});

// The forecast of such a run beside what it took until now; "" where there was none.
std::string forecast_and_truth(const RunSetup& setup);

}  // namespace lockstep::cli
