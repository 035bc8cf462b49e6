// Turns the metrics of an MLflow run, from any store, into a trial.
#pragma once

#include "tools/report/logs/foreign_log.h"

#include <cstdint>
#include <map>
#include <string>

namespace lockstep {

struct MlflowValue {
  double time_ms = 0;  // milliseconds since 1970
  std::int64_t step = 0;
  double value = 0;
};

class MlflowLog {
 public:
  // Adds a value of a metric. The values of a metric must come in the order of their times. System
  // metrics are left out, because they count their own steps.
  void add(const std::string& name, const MlflowValue& value);
  // starts: the starts that an export of a run contains
  void set_starts(std::vector<StartMark> starts) { starts_ = std::move(starts); }
  void finish(Trial& trial) &&;

 private:
  std::map<std::string, ForeignSeries> series_;
  std::vector<StartMark> starts_;
};

// Adds the commit from which the run was started. `commit` may be empty if it is unknown.
void add_mlflow_code(const std::string& commit, Trial& trial);

}  // namespace lockstep
