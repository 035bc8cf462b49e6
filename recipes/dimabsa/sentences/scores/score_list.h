// Lists scores under the names that metrics, events and checkpoint.best_metric use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/bootstrap.h"
#include "planning/recipe_info.h"
#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// Returns the names of a task's scores:
//   task 1          rmse_va, rmse_va_norm (divided by sqrt(128)), pearson_v, pearson_a
//   tasks 2 and 3   f1 (of tuples without VA), cf1, cprecision, crecall, precision, recall,
//                   rmse_va (over matches)
std::vector<std::string> score_names(Task task);
// Returns the scores in the order of score_names(). A score that is not defined is NaN. An example
// is the correlation if all values are equal.
std::vector<Score> score_list(Task task, const Scores& scores);

// A 95 % confidence interval of a score, from a bootstrap over sentences. Tasks 2 and 3 have
// intervals of cf1 and f1. Task 1 has only the interval of rmse_va. The first interval is that of
// the task's main score. The same options.seed gives the same intervals.
struct NamedInterval {
  std::string name;
  Interval interval;
};
std::vector<NamedInterval> score_intervals(Task task, const Aligned& aligned,
                                           const BootstrapOptions& options = {});

}  // namespace lockstep::dimabsa
