// Reads logs that `lockstep export` or log.tensorboard wrote. The result has the names and numbers
// that the run itself has in a comparison.
#pragma once

#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/log_clock.h"

#include <string>
#include <vector>

namespace lockstep {

// Whether a table is a steps.csv or an evaluations.csv, judged by its column names.
bool is_own_steps(const std::vector<std::string>& columns);
bool is_own_evaluations(const std::vector<std::string>& columns);
// Returns the name that TensorBoard and MLflow get for a column of such a table. For example,
// "logged.accuracy" becomes "train/accuracy" (docs/reference/run-directory.md).
std::string own_name(const std::string& column);

// Whether these are the series of an export to TensorBoard or MLflow, judged by their names.
bool is_own_log(const std::vector<ForeignSeries>& all);

// Adds step time, shares and memory from the steps in the log, and also metrics and the curve.
// starts: the run's starts, in order. If the list is empty, training begins with the first step,
// and `clock` gives the times.
void add_own_log(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts,
                 LogClock& clock, Trial& trial);

}  // namespace lockstep
