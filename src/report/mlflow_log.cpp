#include "report/mlflow_log.h"

#include <algorithm>

#include "base/text.h"

namespace lockstep {
namespace {

// More than one value, and all at one step.
bool has_no_steps(const ForeignSeries& series) {
  const double first = series.points.front().place;
  return series.points.size() > 1 &&
         std::all_of(series.points.begin(), series.points.end(),
                     [&](const ForeignPoint& point) { return point.place == first; });
}

void number_in_order(ForeignSeries& series) {
  double place = 0;
  for (ForeignPoint& point : series.points) point.place = ++place;
}

}  // namespace

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
  bool any_steps = false, any_without = false;
  for (auto& [name, series] : series_) {
    const bool without = has_no_steps(series);
    any_without = any_without || without;
    any_steps = any_steps || (!without && series.points.back().place != 0);
    log.series.push_back(std::move(series));
  }
  const bool is_numbered = any_without && !any_steps;
  for (ForeignSeries& series : log.series) {
    if (!has_no_steps(series)) continue;
    if (is_numbered)
      number_in_order(series);
    else
      trial.cautions.push_back(
          cat(series.name, " was logged without steps: its last value alone counts"));
  }
  log.counted = is_numbered || !any_steps ? "" : "steps";
  add_foreign_log(std::move(log), trial);
}

void add_mlflow_code(const std::string& commit, Trial& trial) {
  constexpr std::size_t shown = 12;
  if (!commit.empty()) trial.set("code", FactKind::means, printable(commit.substr(0, shown)));
}

}  // namespace lockstep
