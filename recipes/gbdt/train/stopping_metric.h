// Chooses a metric for early stopping. It must be able to distinguish models on the validation
// rows.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/objectives/objective.h"

namespace lockstep::gbdt {

// Returns why this metric of LightGBM is useless on these rows, for example "all 18 have the label
// 0". A metric is useless if it is undefined, or the same for all models. Early stopping would then
// choose the first iteration. The result is empty if the metric is useful. rows: the validation
// rows, at least one. classes: names of the labels; empty if labels are numbers.
std::string why_blind(const std::string& metric, const Rows& rows,
                      const std::vector<std::string>& classes);

struct StoppingMetric {
  std::string asked{};      // the first metric of the list; empty if no metric is computed
  std::string used{};       // the first useful metric; empty if none is useful
  std::string why_blind{};  // why_blind of `asked`; empty if `asked` is used
  std::string list{};  // parameter `metric` for LightGBM: the requested metrics, but `used` first
};

// Chooses the first useful metric of a list. list: the requested value of the parameter `metric`.
// If no metric of the list is useful, the objective's default metric is tried too.
StoppingMetric stopping_metric(const std::string& list, const Objective& objective,
                               const Rows& rows, const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
