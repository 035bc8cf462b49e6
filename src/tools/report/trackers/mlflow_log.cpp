#include "tools/report/trackers/mlflow_log.h"

#include <cmath>

#include "core/base/text/text.h"

namespace lockstep {
void MlflowLog::add(const std::string& name, const MlflowValue& value) {
  if (name.starts_with("system/")) return;
  ForeignSeries& series = series_[name];
  if (series.points.empty()) series.name = printable(name);
  series.points.push_back({.place = static_cast<double>(value.step),
                           .time = value.time_ms / 1000,
                           .value = value.value});
}

void MlflowLog::finish(Trial& trial) && {
  if (series_.empty()) {
    trial.cautions.push_back("it has no metrics: nothing was measured");
    return;
  }
  ForeignLog log;
  log.own_starts = std::move(starts_);
  bool counted = false;
  for (auto& [name, series] : series_) {
    // A single value often comes from a test days after the training, so its time is not used.
    const bool is_single = series.points.size() == 1;
    if (is_single && log.own_starts.empty()) series.points.front().time = NAN;
    counted = counted || !is_single || series.points.front().place != 0;
    log.series.push_back(std::move(series));
  }
  if (counted) log.counted = "steps";
  add_foreign_log(std::move(log), trial);
}

void add_mlflow_code(const std::string& commit, Trial& trial) {
  constexpr std::size_t shown = 12;
  if (!commit.empty()) trial.set("code", FactKind::means, printable(commit.substr(0, shown)));
}

}  // namespace lockstep
