// Chooses the metric for early stopping, given the rows on which it is computed.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/objectives/objective.h"

namespace lockstep::gbdt {

// Why this metric of LightGBM is useless on these rows: it is the same for all models, or
// undefined, so that the first tree would be the best. For example "all 18 have the label 0". "" if
// it distinguishes models. classes: names of the labels; empty: they are numbers. There must be at
// least one row.
std::string why_blind(const std::string& metric, const Rows& rows,
                      const std::vector<std::string>& classes);

struct StoppingMetric {
  std::string asked{};      // the first of the list; "": none is computed
  std::string used{};       // the first that distinguishes models; "": none does
  std::string why_blind{};  // for the requested metric; "": it is used
  std::string list{};       // for LightGBM: the requested metrics, with `used` first
};

// list: in the form of the parameter `metric`. The metric of the objective is tried in addition.
StoppingMetric stopping_metric(const std::string& list, const Objective& objective,
                               const Rows& rows, const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
