// The objectives of models: LightGBM's own, what their labels are, and how they are measured.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

enum class Task { binary, regression, multiclass, ranking };

// A new objective is a row of the table in objective.cpp.
struct Objective {
  const char* name;  // LightGBM's own
  Task task;
  const char* metric;       // LightGBM's, of early stopping
  const char* main_metric;  // of the map of a batch
  Metrics (*measure)(const ScoredRows& rows);
  std::vector<const char*> aliases{};  // LightGBM's other names, and Lockstep's
  bool balances = false;               // knows is_unbalance
  double least_label = -std::numeric_limits<double>::infinity();
  bool least_excluded = false;  // labels are above it

  bool classifies() const { return task == Task::binary || task == Task::multiclass; }
};

std::span<const Objective> all_objectives();
// By its name or an alias. Throws Error, which names the nearest.
const Objective& find_objective(std::string_view name);

}  // namespace lockstep::gbdt
