#include "training/trainer/output/metric_values.h"

#include "planning/recipe_info.h"

#include <cmath>

namespace lockstep {

const Metric& chosen_metric(const std::vector<Metric>& metrics, const std::string& best_metric) {
  if (best_metric.empty()) return metrics.front();
  std::vector<std::string> names;
  for (const Metric& metric : metrics) {
    if (metric.name == best_metric) return metric;
    names.push_back(metric.name);
  }
  check_best_metric(names, best_metric);
  return metrics.front();
}

nlohmann::json metric_values(const std::vector<Metric>& metrics, const std::string& best_metric) {
  nlohmann::json values = nlohmann::json::object();
  for (const Metric& metric : metrics) values[metric.name] = metric.value;
  const Metric& chosen = chosen_metric(metrics, best_metric);
  values["selection"] = chosen.lower_is_better ? chosen.value : -chosen.value;
  return values;
}

nlohmann::json infinite_metrics(const std::vector<Metric>& metrics) {
  nlohmann::json infinite;
  for (const Metric& metric : metrics)
    if (std::isinf(metric.value)) infinite[metric.name] = metric.value > 0 ? "inf" : "-inf";
  return infinite;
}

}  // namespace lockstep
