// Metrics of an MLflow run, from any store, as a trial.
#pragma once

#include "tools/report/logs/foreign_log.h"

#include <cstdint>
#include <map>
#include <string>

namespace lockstep {

struct MlflowValue {
  double time_ms = 0;  // since 1970
  std::int64_t step = 0;
  double value = 0;
};

class MlflowLog {
 public:
  // Values must come in the order of their times. System metrics, which count their own steps, are
  // left out.
  void add(const std::string& name, const MlflowValue& value);
  void set_starts(std::vector<StartMark> starts) { starts_ = std::move(starts); }  // from an export
  void finish(Trial& trial) &&;

 private:
  std::map<std::string, ForeignSeries> series_;
  std::vector<StartMark> starts_;
};

// Adds the commit that it ran from; "": unknown.
void add_mlflow_code(const std::string& commit, Trial& trial);

}  // namespace lockstep
