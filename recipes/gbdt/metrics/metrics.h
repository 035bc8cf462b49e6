// Measures predictions: a list of named metrics, each with an interval.
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
  const char* title;                       // for people: "log-loss"
  double (*of_ratio)(double) = nullptr;    // see Metric; null: as it is
  bool is_brief = true;                    // shown for each window on a terminal
  bool has_interval = true;                // in the tables of a batch
  bool is_share = true;                    // lies about between 0 and 1
  double low = 0, middle = 0.5, high = 1;  // of the colours of a map
};
// All of them, in the order in which they are shown.
std::span<const MetricInfo> all_metrics();
// Null if there is none of that name.
const MetricInfo* find_metric(std::string_view name);

// A metric of some rows, of_ratio(part / whole). So windows are combined by adding up both numbers.
// If whole is 0, the metric is undefined, and its value is NaN.
struct Metric {
  const MetricInfo* info = nullptr;
  Interval value;  // 95 %
  double part = 0, whole = 0;
};

// The number of rows of each class (first key) by predicted class (second key).
using ConfusionMatrix = std::map<std::string, std::map<std::string, std::int64_t>>;

struct Metrics {
  std::int64_t rows = 0;
  std::vector<Metric> list;     // in the order of all_metrics
  ConfusionMatrix confusion{};  // empty if nothing is classified

  Interval value(std::string_view name) const;  // NaN if it is absent
};

// Rows with their predictions.
struct ScoredRows {
  // [rows]; for several classes [rows, classes], row-major: probabilities.
  std::span<const double> scores;
  std::span<const double> labels;          // [rows]; for classes their numbers, from 0
  std::span<const std::string> classes{};  // their names; empty: 0, 1, …
  std::span<const std::int32_t> groups{};  // for a ranking: rows of each group, in order
  double alpha = 0.9;                      // the quantile that was requested
};

// All of these functions treat rows as independent. Labels of neighbouring rows may overlap by the
// horizon, so true intervals are wider. Intervals over many windows (`over_windows`) do not have
// this flaw.

// scores: probabilities of class 1. A row is predicted as 1 if its probability is above 0.5.
// Intervals: Wilson's for a proportion (JASA 1927), for accuracy, precision, recall and base rate
// (the share of class 1). For F1 = 2J / (1 + J), the interval of the proportion J = TP / (TP + FP +
// FN). For the AUC, DeLong's variance (Biometrics 1988) on its logit. For the log-loss, the normal
// interval of a mean.
Metrics binary_metrics(const ScoredRows& rows);

// The class of the highest probability is the predicted one. Means over classes (macro_…) are over
// the classes that occur or were predicted, as in scikit-learn; an undefined value counts as 0.
// base_rate is the share of the most frequent class. Intervals: Wilson's for accuracy and base
// rate, and normal ones for the log-loss. For the macro means they are also normal, by the delta
// method on the cells of the confusion matrix.
Metrics multiclass_metrics(const ScoredRows& rows);

// RMSE, MAE, R2 and Spearman's rank correlation (the information coefficient of a forecast);
// base_rmse is the RMSE of the mean of these labels for all rows. Intervals: normal ones of mean
// squared and absolute errors; delta method for R2; Fisher's z with Bonett and Wright's variance
// (Psychometrika 2000) for the rank correlation.
Metrics regression_metrics(const ScoredRows& rows);

// The metrics of regression_metrics, and also the pinball loss and the coverage (share of labels
// that are not above the prediction, which should be alpha).
Metrics quantile_metrics(const ScoredRows& rows);

// Labels are relevances, with gains 2^label - 1 (Burges et al., ICML 2005). NDCG at 1, 3, 5, 10 and
// mean average precision (a label above 0 is relevant) are means over groups. Groups without a
// relevant row count for neither. Rows with equal scores share their places: they get their mean
// discount for NDCG, and one threshold for the precision, as in scikit-learn. base_ndcg@10 is the
// value for a random order. Intervals: normal ones of means over groups.
Metrics ranking_metrics(const ScoredRows& rows);

// Combines all windows. Intervals are by bootstrap (core/media/bootstrap.h), with a window as one
// row; a single window keeps its own. A metric that needs all rows of a window (AUC, rank
// correlation, macro means) becomes a mean over the windows that have it, weighted by rows.
Metrics over_windows(std::span<const Metrics> windows);
// The plain mean of each metric over the windows that have it, without intervals.
Metrics mean_of_windows(std::span<const Metrics> windows);

// {"rows", "accuracy": 0.5, "accuracy_interval": [low, high], …, "sums": {"accuracy": [part,
// whole], …}, "confusion": {…}}; null for NaN.
nlohmann::json to_json(const Metrics& metrics);
Metrics metrics_from_json(const nlohmann::json& json);  // of to_json; throws json's exceptions

}  // namespace lockstep::gbdt
