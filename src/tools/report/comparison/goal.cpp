#include "tools/report/comparison/goal.h"

#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

struct GoalMetric {
  std::string name;
  bool lower = true;
};

// The metric that all trials have. A trial that failed before any evaluation has no metric and is
// skipped. Nothing if a side has only such trials, because there is no time to compare.
std::optional<GoalMetric> common_metric(const TrialGroup& a, const TrialGroup& b) {
  std::optional<GoalMetric> metric;
  for (const TrialGroup* group : {&a, &b}) {
    bool any = false;
    for (const Trial& trial : group->trials) {
      if (trial.curve.empty()) continue;
      if (trial.metric_better == Better::unknown) return std::nullopt;
      const GoalMetric its{trial.metric, trial.metric_better == Better::lower};
      if (metric && (metric->name != its.name || metric->lower != its.lower)) return std::nullopt;
      metric = its;
      any = true;
    }
    if (!any) return std::nullopt;
  }
  return metric;
}

bool reaches(double value, double goal, bool lower) {
  return std::isfinite(value) && (lower ? value <= goal : value >= goal);
}

std::optional<double> worst_of_bests(const TrialGroup& a, const TrialGroup& b, bool lower) {
  std::optional<double> worst;
  for (const TrialGroup* group : {&a, &b})
    for (const Trial& trial : group->trials) {
      std::optional<double> best;
      for (const CurvePoint& point : trial.curve)
        if (std::isfinite(point.value) && (!best || reaches(point.value, *best, lower)))
          best = point.value;
      if (!best) continue;  // no finite value, so it reached nothing
      if (!worst || reaches(*worst, *best, lower)) worst = best;
    }
  return worst;
}

std::vector<double> times_of(const TrialGroup& group, double goal, bool lower) {
  std::vector<double> times;
  for (const Trial& trial : group.trials) {
    const auto there =
        std::find_if(trial.curve.begin(), trial.curve.end(),
                     [&](const CurvePoint& point) { return reaches(point.value, goal, lower); });
    if (there != trial.curve.end()) times.push_back(there->seconds);
  }
  return times;
}

}  // namespace

std::optional<GoalTimes> times_to_goal(const TrialGroup& a, const TrialGroup& b,
                                       std::optional<double> wanted) {
  const std::optional<GoalMetric> metric = common_metric(a, b);
  if (!metric) return std::nullopt;
  const std::optional<double> goal = wanted ? wanted : worst_of_bests(a, b, metric->lower);
  if (!goal) return std::nullopt;
  return GoalTimes{
      .value = *goal,
      .title = cat("time to ", metric->name, metric->lower ? " <= " : " >= ", general(*goal, 5)),
      .a = times_of(a, *goal, metric->lower),
      .b = times_of(b, *goal, metric->lower)};
}

}  // namespace lockstep
