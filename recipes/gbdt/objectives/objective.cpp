#include "recipes/gbdt/objectives/objective.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

Objective regression(const char* name, const char* metric, std::vector<const char*> aliases = {}) {
  return {.name = name,
          .task = Task::regression,
          .metric = metric,
          .main_metric = "r2",
          .measure = regression_metrics,
          .aliases = std::move(aliases)};
}

Objective counts(const char* name, const char* metric, bool above_zero = false) {
  Objective one = regression(name, metric);
  one.least_label = 0;
  one.least_excluded = above_zero;
  return one;
}

Objective quantile() {
  Objective one = regression("quantile", "quantile");
  one.main_metric = "spearman";
  one.measure = quantile_metrics;
  return one;
}

Objective multiclass(const char* name, std::vector<const char*> aliases, bool balances) {
  return {.name = name,
          .task = Task::multiclass,
          .metric = "multi_logloss",
          .main_metric = "accuracy",
          .measure = multiclass_metrics,
          .aliases = std::move(aliases),
          .balances = balances};
}

Objective ranking(const char* name, std::vector<const char*> aliases) {
  return {.name = name,
          .task = Task::ranking,
          .metric = "ndcg",
          .main_metric = "ndcg@10",
          .measure = ranking_metrics,
          .aliases = std::move(aliases),
          .least_label = 0};
}

const std::vector<Objective>& table() {
  static const std::vector<Objective> all = {
      {.name = "binary",
       .task = Task::binary,
       .metric = "binary_logloss",
       .main_metric = "auc",
       .measure = binary_metrics,
       .balances = true},
      multiclass("multiclass", {"softmax"}, false),
      multiclass("multiclassova", {"multiclass_ova", "ova", "ovr"}, true),
      regression("regression", "l2",
                 {"regression_l2", "l2", "mean_squared_error", "mse", "l2_root",
                  "root_mean_squared_error", "rmse"}),
      regression("regression_l1", "l1", {"l1", "mean_absolute_error", "mae"}),
      regression("huber", "huber"),
      regression("fair", "fair"),
      regression("mape", "mape", {"mean_absolute_percentage_error"}),
      quantile(),
      counts("poisson", "poisson"),
      counts("gamma", "gamma", true),
      counts("tweedie", "tweedie"),
      ranking("lambdarank", {"ranking", "rank"}),
      ranking("rank_xendcg", {"xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"})};
  return all;
}

}  // namespace

std::span<const Objective> all_objectives() { return table(); }

const Objective& find_objective(std::string_view name) {
  std::vector<std::string> names;
  for (const Objective& one : table()) {
    if (name == one.name) return one;
    names.emplace_back(one.name);
    for (const char* alias : one.aliases) {
      if (name == alias) return one;
      names.emplace_back(alias);
    }
  }
  const std::string near = nearest(name, names);
  throw Error(cat("objective=", name, " is none that this recipe knows"),
              near.empty() ? "binary, regression, multiclass or ranking, or one of LightGBM's: "
                             "regression_l1, huber, quantile, poisson, …"
                           : cat("is it ", near, "?"));
}

}  // namespace lockstep::gbdt
