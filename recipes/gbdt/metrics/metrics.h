// Measures predictions. The result is a list of named metrics, each with an interval.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/media/bootstrap.h"

namespace lockstep::gbdt {

// The properties of a metric, without its value. To add a metric, add a row to the table in
// metric_info.cpp.
struct MetricInfo {
  const char* name;                        // in files: "log_loss"
  const char* title;                       // for users: "log-loss"
  double (*of_ratio)(double) = nullptr;    // see Metric; null: the ratio itself
  bool is_brief = true;                    // whether a terminal shows it for each window
  bool has_interval = true;                // whether tables of a batch have its interval
  bool is_share = true;                    // whether values are mostly between 0 and 1
  double low = 0, middle = 0.5, high = 1;  // values for the colours of a map
};
// Returns all metrics in the order in which they are shown.
std::span<const MetricInfo> all_metrics();
// Returns the metric with that name, or null if there is none.
const MetricInfo* find_metric(std::string_view name);

// The value of a metric on some rows. It is of_ratio(part / whole), so windows are combined by
// adding up their parts and wholes. If `whole` is 0, the metric is undefined, and its value is NaN.
struct Metric {
  const MetricInfo* info = nullptr;
  Interval value;  // value and 95 % interval
  double part = 0, whole = 0;
};

// The number of rows of each class (first key) by predicted class (second key).
using ConfusionMatrix = std::map<std::string, std::map<std::string, std::int64_t>>;

struct Metrics {
  std::int64_t rows = 0;
  std::vector<Metric> list;     // in the order of all_metrics
  ConfusionMatrix confusion{};  // empty if nothing is classified

  Interval value(std::string_view name) const;  // NaN if the metric is absent
};

// Rows with their predictions.
struct ScoredRows {
  // [rows]; for multiclass [rows, classes], row-major: probabilities
  std::span<const double> scores;
  std::span<const double> labels;          // [rows]; for classes, their indexes
  std::span<const std::string> classes{};  // names; empty: "0", "1", …
  std::span<const std::int32_t> groups{};  // for a ranking: number of rows per group, in order
  double alpha = 0.9;                      // the quantile to predict
};

// The functions for one window treat rows as independent. But labels of neighbouring rows may
// overlap by the horizon, so true intervals are wider. Intervals by `over_windows` do not have this
// flaw.

// Metrics for two classes. scores: probabilities of class 1. A row is predicted as 1 if its
// probability is above 0.5. base_rate is the share of class 1. The intervals are:
//   - accuracy, precision, recall, base_rate: Wilson's for a proportion (JASA 1927).
//   - F1 = 2J / (1 + J): from the interval of the proportion J = TP / (TP + FP + FN).
//   - AUC: DeLong's variance (Biometrics 1988) on its logit.
//   - log-loss: the normal interval of a mean.
Metrics binary_metrics(const ScoredRows& rows);

// Metrics for several classes. The class with the highest probability is predicted. base_rate is
// the share of the most frequent class. The metrics macro_… are means over the classes that occur
// or were predicted, as in scikit-learn. A class whose value is undefined adds 0. The intervals
// are:
//   - accuracy, base_rate: Wilson's.
//   - log-loss: the normal interval of a mean.
//   - macro_…: normal, by the delta method on the cells of the confusion matrix.
Metrics multiclass_metrics(const ScoredRows& rows);

// Metrics for numbers: RMSE, MAE, R2 and Spearman's rank correlation, which is the information
// coefficient of a forecast. base_rmse is the RMSE if the mean of the labels is predicted for each
// row. The intervals are:
//   - RMSE, MAE: from the normal interval of mean squared and absolute errors.
//   - R2: by the delta method.
//   - rank correlation: Fisher's z with Bonett and Wright's variance (Psychometrika 2000).
Metrics regression_metrics(const ScoredRows& rows);

// The metrics of regression_metrics, the pinball loss and the coverage. Coverage is the share of
// labels that are not above the prediction; it should be `alpha`.
Metrics quantile_metrics(const ScoredRows& rows);

// Metrics for a ranking. Labels are relevances with gains 2^label - 1 (Burges et al., ICML 2005). A
// label above 0 is relevant. NDCG at 1, 3, 5, 10 and mean average precision are means over groups.
// Groups without a relevant row are left out. Rows with equal scores share their places, as in
// scikit-learn. For NDCG, they get the mean discount of these places. For the precision, they get
// one threshold. base_ndcg@10 is the value of a random order. Intervals are normal intervals of
// means over groups.
Metrics ranking_metrics(const ScoredRows& rows);

// Combines all windows. Intervals are by bootstrap over windows (core/media/bootstrap.h). A single
// window keeps its own intervals. Some metrics need all rows of a window: AUC, rank correlation and
// macro means. These become means over the windows that have them, weighted by rows.
Metrics over_windows(std::span<const Metrics> windows);
// Returns the plain mean of each metric over the windows that have it, without intervals.
Metrics mean_of_windows(std::span<const Metrics> windows);

// Returns {"rows", "accuracy": 0.5, "accuracy_interval": [low, high], …, "sums": {"accuracy":
// [part, whole], …}, "confusion": {…}}. NaN becomes null.
nlohmann::json to_json(const Metrics& metrics);
// Reads the result of to_json. Throws json's exceptions.
Metrics metrics_from_json(const nlohmann::json& json);

}  // namespace lockstep::gbdt
