// An evaluation's metrics as events and checkpoints hold them, and the one that the best goes by.
#pragma once

#include "training/recipe/recipe.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep {

// {"loss": 1.23, …, "selection": …}: `selection` is the chosen metric with the sign that makes
// lower better; retention and `best` go by it.
nlohmann::json metric_values(const std::vector<Metric>& metrics, const std::string& best_metric);
// {"NAME": "inf"} for infinite ones, which JSON has as null like those that are no numbers. Null:
// none.
nlohmann::json infinite_metrics(const std::vector<Metric>& metrics);
// The metric named, or the first if the name is empty; throws Error naming the nearest.
const Metric& chosen_metric(const std::vector<Metric>& metrics, const std::string& best_metric);

}  // namespace lockstep
