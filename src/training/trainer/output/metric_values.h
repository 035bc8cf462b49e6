// Converts an evaluation's metrics for events and checkpoints, and finds the metric that decides
// which evaluation is best.
#pragma once

#include "training/recipe/recipe.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep {

// Returns {"loss": 1.23, …, "selection": …}. "selection" is the value of chosen_metric, negated if
// higher values are better. It decides which checkpoint is the best and which checkpoints are kept.
nlohmann::json metric_values(const std::vector<Metric>& metrics, const std::string& best_metric);
// Returns {"NAME": "inf" or "-inf"} for all infinite metrics, because JSON stores infinite values
// as null. Returns null if no metric is infinite.
nlohmann::json infinite_metrics(const std::vector<Metric>& metrics);
// Returns the metric named best_metric, or the first metric if best_metric is empty. Throws Error
// if there is no such metric, and suggests the nearest name.
const Metric& chosen_metric(const std::vector<Metric>& metrics, const std::string& best_metric);

}  // namespace lockstep
