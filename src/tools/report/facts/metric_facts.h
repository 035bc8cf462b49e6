// A run's validation metrics: best and last values, whether lower or higher is better, and the
// curve for "time to a loss".
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/facts/run_log.h"

#include <string>

namespace lockstep {

// chosen: checkpoint.best_metric. "" means the recipe's own first metric, which is `loss`, or the
// only metric if that can be determined. Without evaluations, the training loss is used under its
// own name.
void add_metrics(const RunLog& log, const std::string& chosen, Trial& trial);

// Tells from the evaluations that were marked best so far whether lower or higher values of the
// metric are better. Unknown if there are too few, or if they fit neither direction.
Better direction_of(const RunLog& log, const std::string& metric);

}  // namespace lockstep
