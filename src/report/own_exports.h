// Logs that `lockstep export` and log.tensorboard wrote, read back under the names and with the
// numbers that the run itself has in a comparison.
#pragma once

#include "report/foreign_log.h"
#include "report/log_clock.h"

#include <string>
#include <vector>

namespace lockstep {

// Of a table's column names: steps.csv, evaluations.csv.
bool is_own_steps(const std::vector<std::string>& columns);
bool is_own_evaluations(const std::vector<std::string>& columns);
// "logged.accuracy" of such a table is "train/accuracy", as docs/reference/run-directory.md names
// it for TensorBoard and MLflow.
std::string own_name(const std::string& column);

// Of series with the names of TensorBoard and MLflow.
bool is_own_log(const std::vector<ForeignSeries>& all);

// Step time, shares and memory as the log's own steps tell them, and metrics; `curve` is filled in,
// too. starts: of the run, in order; where there are none, the first step's beginning is that of
// the training, and clock tells its time.
void add_own_log(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts,
                 LogClock& clock, Trial& trial);

}  // namespace lockstep
