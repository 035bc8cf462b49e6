// Scores under the names that metrics, events and checkpoint.best_metric use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/bootstrap.h"
#include "planning/recipe_info.h"
#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// Task 1: rmse_va, rmse_va_norm (divided by sqrt(128)), pearson_v, pearson_a. Tasks 2 and 3: f1
// (tuples without VA), cf1, cprecision, crecall, precision, recall, and rmse_va of what is matched.
std::vector<std::string> score_names(Task task);
// In that order. A score that is not defined (a correlation of constants) is NaN.
std::vector<Score> score_list(Task task, const Scores& scores);

// 95 % intervals over sentences, of cf1 and f1, or of rmse_va in task 1: the first is the task's
// main score. Deterministic by seed.
struct NamedInterval {
  std::string name;
  Interval interval;
};
std::vector<NamedInterval> score_intervals(Task task, const Aligned& aligned,
                                           const BootstrapOptions& options = {});

}  // namespace lockstep::dimabsa
