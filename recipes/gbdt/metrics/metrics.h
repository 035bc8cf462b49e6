// How good probabilities of two classes are, with intervals in closed form.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "media/bootstrap.h"

namespace lockstep::gbdt {

struct Confusion {
  std::int64_t true_positive = 0, false_positive = 0, true_negative = 0, false_negative = 0;

  std::int64_t rows() const {
    return true_positive + false_positive + true_negative + false_negative;
  }
};

// Each with a 95 % interval. NaN where it is not defined: precision without anything called
// positive, recall without a positive, AUC with one class, all without rows.
struct BinaryMetrics {
  Confusion counts;
  Interval accuracy, precision, recall, f1, auc, log_loss;
  Interval base_rate;  // share of positives: what a guess for all rows would say
};

// probabilities [N] of class 1; labels [N], 0 or 1; positive is called what is above `threshold`.
// Intervals: Wilson's of a proportion (JASA 1927) for accuracy, precision, recall and base rate;
// for F1 = 2J / (1 + J) the one of the proportion J = TP / (TP + FP + FN); DeLong's variance
// (Biometrics 1988) on the logit of the AUC; the normal one of a mean for the log-loss. They take
// rows for independent. Labels of neighbouring rows overlap by the horizon, so true intervals are
// wider; those over many windows (`over_windows`) do not have that fault.
BinaryMetrics binary_metrics(std::span<const double> probabilities,
                             std::span<const std::uint8_t> labels, double threshold = 0.5);

// Over all windows: counts added up, AUC and log-loss as means over rows (AUC: of the windows that
// have one). Intervals by bootstrap (media/bootstrap.h), a window being one row of it.
BinaryMetrics over_windows(std::span<const BinaryMetrics> windows);

// {"rows", "accuracy": 0.5, "accuracy_interval": [low, high], …}; null for NaN.
nlohmann::json to_json(const BinaryMetrics& metrics);
BinaryMetrics metrics_from_json(const nlohmann::json& json);  // of to_json

}  // namespace lockstep::gbdt
