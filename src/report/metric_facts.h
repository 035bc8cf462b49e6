// The validation metrics of a run: best and last values, which of lower and higher is better, and
// the curve that "time to a loss" is read from.
#pragma once

#include "report/facts.h"
#include "report/run_log.h"

#include <string>

namespace lockstep {

// chosen: checkpoint.best_metric; "": the recipe's own first, which is `loss` or the only one where
// that can be told. Without evaluations the training loss takes its place, and is named so.
void add_metrics(const RunLog& log, const std::string& chosen, Trial& trial);

// The direction in which the evaluations that were the best so far are its best values; unknown
// where there are too few to tell, or they are not.
Better direction_of(const RunLog& log, const std::string& metric);

}  // namespace lockstep
