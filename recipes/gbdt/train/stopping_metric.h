// Chooses the metric for early stopping that can distinguish models on the validation rows.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/objectives/objective.h"

namespace lockstep::gbdt {

// Returns why this metric of LightGBM is useless on these rows, for example "all 18 have the label
// 0". It is useless if it is undefined, or the same for all models. Early stopping would then
// choose the first tree. The result is empty if the metric distinguishes models. classes: names of
// the labels; empty if labels are numbers. There must be at least one row.
std::string why_blind(const std::string& metric, const Rows& rows,
                      const std::vector<std::string>& classes);

struct StoppingMetric {
  std::string asked{};      // the first of the list; empty if none is computed
  std::string used{};       // the first that distinguishes models; empty if none does
  std::string why_blind{};  // for `asked`; empty if `asked` is used
  std::string list{};       // for LightGBM: the requested metrics, but `used` first
};

// Chooses the metric. list: the value of the parameter `metric`. The metric of the objective is
// tried last.
StoppingMetric stopping_metric(const std::string& list, const Objective& objective,
                               const Rows& rows, const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
