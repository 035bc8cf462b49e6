// Adds a run's validation metrics to a trial: best and last values, better directions, and the
// curve for "time to a loss".
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/facts/run_log.h"

#include <string>

namespace lockstep {

// chosen: the value of checkpoint.best_metric. If no metric of that name was evaluated, the metric
// `loss` is used, or else the only metric. Without evaluations, the training loss is added under
// its own name.
void add_metrics(const RunLog& log, const std::string& chosen, Trial& trial);

// Returns whether lower or higher values of the metric are better. Evaluations that were marked as
// the best so far show this. Returns `unknown` if there are too few evaluations, or if the marks
// fit neither direction.
Better direction_of(const RunLog& log, const std::string& metric);

}  // namespace lockstep
