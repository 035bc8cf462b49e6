// The table of metrics.
#include <array>
#include <cmath>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {
namespace {

double root(double value) { return std::sqrt(value); }
double rest(double value) { return 1 - value; }

constexpr std::array table = {
    MetricInfo{.name = "base_rate", .title = "base rate", .has_interval = false},
    MetricInfo{.name = "auc", .title = "AUC"},
    MetricInfo{.name = "log_loss", .title = "log-loss"},
    MetricInfo{.name = "accuracy", .title = "accuracy"},
    MetricInfo{.name = "precision", .title = "precision", .is_brief = false, .has_interval = false},
    MetricInfo{.name = "recall", .title = "recall", .is_brief = false, .has_interval = false},
    MetricInfo{.name = "f1", .title = "F1", .is_brief = false},
    MetricInfo{.name = "macro_precision",
               .title = "macro precision",
               .is_brief = false,
               .has_interval = false},
    MetricInfo{
        .name = "macro_recall", .title = "macro recall", .is_brief = false, .has_interval = false},
    MetricInfo{.name = "macro_f1", .title = "macro F1"},
    MetricInfo{.name = "base_rmse",
               .title = "base RMSE",
               .of_ratio = root,
               .has_interval = false,
               .is_share = false},
    MetricInfo{.name = "rmse", .title = "RMSE", .of_ratio = root, .is_share = false},
    MetricInfo{.name = "mae", .title = "MAE", .is_share = false},
    MetricInfo{.name = "r2", .title = "R2", .of_ratio = rest, .low = -1, .middle = 0},
    MetricInfo{.name = "spearman", .title = "rank corr.", .low = -1, .middle = 0},
    MetricInfo{.name = "pinball", .title = "pinball", .is_share = false},
    MetricInfo{.name = "coverage", .title = "coverage"},
    MetricInfo{.name = "base_ndcg@10", .title = "base NDCG@10", .has_interval = false},
    MetricInfo{.name = "ndcg@1", .title = "NDCG@1", .is_brief = false},
    MetricInfo{.name = "ndcg@3", .title = "NDCG@3", .is_brief = false},
    MetricInfo{.name = "ndcg@5", .title = "NDCG@5"},
    MetricInfo{.name = "ndcg@10", .title = "NDCG@10"},
    MetricInfo{.name = "map", .title = "MAP"},
};

}  // namespace

std::span<const MetricInfo> all_metrics() { return table; }

const MetricInfo* find_metric(std::string_view name) {
  for (const MetricInfo& info : table)
    if (name == info.name) return &info;
  return nullptr;
}

}  // namespace lockstep::gbdt
