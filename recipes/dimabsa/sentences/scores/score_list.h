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
// (tuples without VA), cf1, cprecision, crecall, precision, recall, and rmse_va over matches.
std::vector<std::string> score_names(Task task);
// In the order of score_names. An undefined score (a correlation of constants) is NaN.
std::vector<Score> score_list(Task task, const Scores& scores);

// 95 % intervals over sentences: of cf1 and f1, or in task 1 of rmse_va. The first is that of the
// task's main score. The same seed gives the same intervals.
struct NamedInterval {
  std::string name;
  Interval interval;
};
std::vector<NamedInterval> score_intervals(Task task, const Aligned& aligned,
                                           const BootstrapOptions& options = {});

}  // namespace lockstep::dimabsa
