// Which metric early stopping can go by, given the rows that it is computed on.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/objectives/objective.h"

namespace lockstep::gbdt {

// Why this metric of LightGBM's is the same for all models on these rows, or not defined there, so
// that the first tree would be the best: "all 18 have the label 0". "": it tells models apart.
// classes: names of the labels; empty: they are numbers. Rows: at least one.
std::string why_blind(const std::string& metric, const Rows& rows,
                      const std::vector<std::string>& classes);

struct StoppingMetric {
  std::string asked{};      // the first of the list; "": none is computed
  std::string used{};       // the first that tells models apart; "": none does
  std::string why_blind{};  // of the one that was asked for; "": it is used
  std::string list{};       // for LightGBM: what was asked, with `used` first
};

// list: as the parameter `metric` has it. Besides these, the metric of the objective is tried.
StoppingMetric stopping_metric(const std::string& list, const Objective& objective,
                               const Rows& rows, const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
