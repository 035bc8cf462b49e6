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
  const char* name;   // in files: "log_loss"
  const char* title;  // for users: "log-loss"
  // from the ratio to the value (see Metric); null: they are equal
  double (*of_ratio)(double) = nullptr;
  bool is_brief = true;                    // whether terminal output has it for each window
  bool has_interval = true;                // whether tables of a batch have its interval
  bool is_share = true;                    // whether values usually lie from 0 to 1
  double low = 0, middle = 0.5, high = 1;  // values for the colours of a heat map
};
// Returns all metrics in the order in which they are shown.
std::span<const MetricInfo> all_metrics();
// Returns the metric with that name, or null if there is none.
const MetricInfo* find_metric(std::string_view name);

// The value of a metric on some rows. It is of_ratio(part / whole), so windows are combined by
// adding up `part` and `whole`. If `whole` is 0, the metric is undefined, and its value is NaN.
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
  // predictions [rows]; for multiclass, probabilities [rows, classes], row-major
  std::span<const double> scores;
  std::span<const double> labels;          // [rows]; for a classification, indexes of classes
  std::span<const std::string> classes{};  // names of classes; empty: "0", "1", …
  std::span<const std::int32_t> groups{};  // for a ranking: number of rows per group, in order
  double alpha = 0.9;                      // for a quantile regression: the quantile
};

// The functions for one window treat rows as independent. But labels of neighbouring rows may
// depend on the same later bars, so true intervals are wider. Intervals by `over_windows` do not
// have this flaw.

// Returns metrics for two classes. scores: probabilities of class 1. A row is predicted as 1 if its
// probability is above 0.5. base_rate is the share of class 1. The intervals are:
//   - accuracy, precision, recall, base_rate: Wilson's for a proportion (JASA 1927).
//   - F1 = 2J / (1 + J): from the interval of the proportion J = TP / (TP + FP + FN).
//   - AUC: DeLong's variance (Biometrics 1988) on its logit.
//   - log-loss: by a normal distribution of the mean.
Metrics binary_metrics(const ScoredRows& rows);

// Returns metrics for several classes. The class with the highest probability is predicted.
// base_rate is the share of the most frequent class. The metrics macro_… are means over the classes
// that occur or were predicted, as in scikit-learn. A class whose value is undefined counts as 0.
// The intervals are:
//   - accuracy, base_rate: Wilson's.
//   - log-loss: by a normal distribution of the mean.
//   - macro_…: normal, by the delta method on the cells of the confusion matrix.
Metrics multiclass_metrics(const ScoredRows& rows);

// Returns metrics for numbers: RMSE, MAE, R2 and Spearman's rank correlation, which is the
// information coefficient of a forecast. base_rmse is the RMSE if the mean of the labels is
// predicted for each row. The intervals are:
//   - RMSE, MAE: by a normal distribution of the mean squared or absolute error.
//   - R2: by the delta method.
//   - rank correlation: Fisher's z with Bonett and Wright's variance (Psychometrika 2000).
Metrics regression_metrics(const ScoredRows& rows);

// Returns the metrics of regression_metrics, the pinball loss and the coverage. Coverage is the
// share of labels that are not above the prediction; it should be ScoredRows::alpha.
Metrics quantile_metrics(const ScoredRows& rows);

// Returns metrics for a ranking. Labels are relevances with gains 2^label - 1 (Burges et al., ICML
// 2005). A row with a label above 0 is relevant. NDCG at 1, 3, 5, 10 and mean average precision are
// means over groups. Groups without a relevant row are left out. Rows with equal scores share their
// ranks, as in scikit-learn. For NDCG, each gets the mean discount of these ranks. For average
// precision, they have one threshold. base_ndcg@10 is the NDCG at 10 of a random order. Intervals
// are those of a normal distribution for means over groups.
Metrics ranking_metrics(const ScoredRows& rows);

// Combines the metrics of all windows. Intervals are by bootstrap over windows
// (core/media/bootstrap.h). A single window keeps its own intervals. AUC, rank correlation and
// macro means cannot be computed from sums of `part` and `whole`. These metrics become means over
// the windows that have them, weighted by rows.
Metrics over_windows(std::span<const Metrics> windows);
// Returns the plain mean of each metric over the windows that have it, without intervals.
Metrics mean_of_windows(std::span<const Metrics> windows);

// Returns {"rows", "accuracy": 0.5, "accuracy_interval": [low, high], …, "sums": {"accuracy":
// [part, whole], …}, "confusion": {…}}. NaN becomes null.
nlohmann::json to_json(const Metrics& metrics);
// Reads the result of to_json. Throws nlohmann::json's exceptions if it has another form.
Metrics metrics_from_json(const nlohmann::json& json);

}  // namespace lockstep::gbdt
