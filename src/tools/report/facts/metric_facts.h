// A run's validation metrics: best and last values, whether lower or higher is better, and the
// curve for "time to a loss".
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/facts/run_log.h"

#include <string>

namespace lockstep {

// chosen: checkpoint.best_metric; "": the recipe's own first one, which is `loss` or the only
// metric if that can be determined. Without evaluations the training loss is used, under its own
// name.
void add_metrics(const RunLog& log, const std::string& chosen, Trial& trial);

// The direction in which the evaluations marked best so far are the metric's best values. Unknown
// if there are too few, or if they are not.
Better direction_of(const RunLog& log, const std::string& metric);

}  // namespace lockstep
