// Reads back logs from `lockstep export` and log.tensorboard, with the names and numbers that the
// run itself has in a comparison.
#pragma once

#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/log_clock.h"

#include <string>
#include <vector>

namespace lockstep {

// Recognise a table by its column names: steps.csv, evaluations.csv.
bool is_own_steps(const std::vector<std::string>& columns);
bool is_own_evaluations(const std::vector<std::string>& columns);
// "logged.accuracy" of such a table is "train/accuracy", the name for TensorBoard and MLflow in
// docs/reference/run-directory.md.
std::string own_name(const std::string& column);

// Recognises series by their names for TensorBoard and MLflow.
bool is_own_log(const std::vector<ForeignSeries>& all);

// Adds step time, shares and memory from the log's own steps, and also metrics and `curve`. starts:
// the run's starts, in order. If there are none, training begins with the first step, and `clock`
// gives its time.
void add_own_log(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts,
                 LogClock& clock, Trial& trial);

}  // namespace lockstep
