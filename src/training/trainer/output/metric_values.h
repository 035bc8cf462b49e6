// An evaluation's metrics in the form of events and checkpoints, and the metric that decides which
// evaluation is best.
#pragma once

#include "training/recipe/recipe.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep {

// {"loss": 1.23, …, "selection": …}: `selection` is the chosen metric, with the sign that makes
// lower values better. It decides about retention and `best`.
nlohmann::json metric_values(const std::vector<Metric>& metrics, const std::string& best_metric);
// Returns {"NAME": "inf"} for infinite metrics, because JSON stores infinite values and NaN as
// null. Returns null if no metric is infinite.
nlohmann::json infinite_metrics(const std::vector<Metric>& metrics);
// Returns the metric of this name, or the first if the name is empty. If there is none, throws
// Error with the nearest name.
const Metric& chosen_metric(const std::vector<Metric>& metrics, const std::string& best_metric);

}  // namespace lockstep
