// The objectives that a model can learn, with their kind of labels and their metrics.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

enum class Task { binary, regression, multiclass, ranking };

// To add an objective, add a row to the table in objective.cpp.
struct Objective {
  const char* name;  // LightGBM's name
  Task task;
  const char* metric;       // LightGBM's metric for early stopping if the user names none
  const char* main_metric;  // the metric in the heat map of a batch
  Metrics (*measure)(const ScoredRows& rows);
  std::vector<const char*> aliases{};  // other names in LightGBM and Lockstep
  bool balances = false;               // whether LightGBM's is_unbalance may be true
  double least_label = -std::numeric_limits<double>::infinity();
  bool least_excluded = false;  // whether labels must be above least_label

  bool classifies() const { return task == Task::binary || task == Task::multiclass; }
};

std::span<const Objective> all_objectives();
// Finds an objective by name or alias. Throws Error if there is none; the error names the most
// similar one.
const Objective& find_objective(std::string_view name);

}  // namespace lockstep::gbdt
