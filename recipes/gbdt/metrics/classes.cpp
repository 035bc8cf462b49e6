// Metrics for two classes and for several classes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/text/text.h"
#include "recipes/gbdt/metrics/intervals.h"

namespace lockstep::gbdt {
namespace {

// A count for each cell [true class, predicted class].
struct Cells {
  std::size_t classes;
  std::vector<double> counts;

  explicit Cells(std::size_t n) : classes(n), counts(n * n) {}
  double& at(std::size_t is, std::size_t called) { return counts[is * classes + called]; }
  double at(std::size_t is, std::size_t called) const { return counts[is * classes + called]; }
  double of(std::size_t is) const {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += at(is, c);
    return sum;
  }
  double called(std::size_t as) const {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += at(c, as);
    return sum;
  }
  double hits() const {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += at(c, c);
    return sum;
  }
  double rows() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }
};

ConfusionMatrix matrix_of(const Cells& cells, std::span<const std::string> classes) {
  const auto name = [&](std::size_t c) { return c < classes.size() ? classes[c] : cat(c); };
  ConfusionMatrix matrix;
  for (std::size_t is = 0; is < cells.classes; ++is)
    for (std::size_t called = 0; called < cells.classes; ++called)
      matrix[name(is)][name(called)] = static_cast<std::int64_t>(cells.at(is, called));
  return matrix;
}

// J = TP / (TP + FP + FN) grows with F1. So the interval of F1 follows from the interval of J.
Metric f1_metric(double hits, double false_positive, double false_negative) {
  const auto f1 = [](double j) { return 2 * j / (1 + j); };
  const Interval j = wilson(hits, hits + false_positive + false_negative);
  return {find_metric("f1"),
          {f1(j.low), f1(j.estimate), f1(j.high)},
          2 * hits,
          2 * hits + false_positive + false_negative};
}

// Computes the interval for the logit, so that it stays between 0 and 1. There is no interval for
// an AUC of 0 or 1.
Interval auc_interval(double auc, double variance) {
  if (!(auc > 0 && auc < 1) || !(variance >= 0)) return {not_a_number, auc, not_a_number};
  const Interval logit = around(std::log(auc / (1 - auc)), variance / std::pow(auc * (1 - auc), 2));
  const auto back = [](double x) { return 1 / (1 + std::exp(-x)); };
  return {back(logit.low), auc, back(logit.high)};
}

// Uses placements (Sun and Xu, IEEE SPL 2014). The placement of a positive is the share of
// negatives below it. The placement of a negative is the share of positives above it.
Interval area_under_curve(std::span<const double> probabilities, std::span<const double> labels) {
  std::vector<double> positive, negative;
  for (std::size_t i = 0; i < labels.size(); ++i)
    (labels[i] != 0 ? positive : negative).push_back(probabilities[i]);
  if (positive.empty() || negative.empty()) return {not_a_number, not_a_number, not_a_number};
  std::vector<double> all = positive;
  all.insert(all.end(), negative.begin(), negative.end());
  const std::vector<double> among_all = ranks(all), own = ranks(positive),
                            own_negative = ranks(negative);
  const double m = static_cast<double>(positive.size()), n = static_cast<double>(negative.size());
  std::vector<double> below(positive.size()), above(negative.size());
  for (std::size_t i = 0; i < below.size(); ++i) below[i] = (among_all[i] - own[i]) / n;
  for (std::size_t i = 0; i < above.size(); ++i)
    above[i] = 1 - (among_all[positive.size() + i] - own_negative[i]) / m;
  return auc_interval(mean_of(below), variance_of_mean(below) + variance_of_mean(above));
}

double loss_of(double probability) { return -std::log(std::clamp(probability, 1e-15, 1 - 1e-15)); }

// The metric of one class, with the function that returns the influence of a row on it.
struct ClassValue {
  double value = 0;
  // The influence of one row, times the number of rows. is: whether the row belongs to the class.
  // called: whether it was predicted to. share_is and share_called: the shares of such rows.
  double (*influence)(bool is, bool called, double value, double share_is, double share_called);
};

double of_precision(bool is, bool called, double value, double, double share_called) {
  return called && share_called > 0 ? ((is ? 1 : 0) - value) / share_called : 0;
}
double of_recall(bool is, bool called, double value, double share_is, double) {
  return is && share_is > 0 ? ((called ? 1 : 0) - value) / share_is : 0;
}
double of_f1(bool is, bool called, double value, double share_is, double share_called) {
  const double both = (is && called ? 2 : 0) - value * ((is ? 1 : 0) + (called ? 1 : 0));
  return both / (share_is + share_called);
}

// The mean over classes. Classes that have no rows and no predictions are left out.
Metric macro_metric(const char* name, const Cells& cells,
                    ClassValue (*of_class)(double hits, double is, double called)) {
  const double rows = cells.rows();
  std::vector<std::size_t> known;
  for (std::size_t c = 0; c < cells.classes; ++c)
    if (cells.of(c) + cells.called(c) > 0) known.push_back(c);
  if (known.empty()) return valued(name, {not_a_number, not_a_number, not_a_number}, 0);
  // by how much one row of each cell moves the mean
  std::vector<double> moved(cells.counts.size());
  double mean = 0;
  for (const std::size_t c : known) {
    const double is = cells.of(c), called = cells.called(c);
    const ClassValue one = of_class(cells.at(c, c), is, called);
    mean += one.value / static_cast<double>(known.size());
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const std::size_t truth = k / cells.classes, guess = k % cells.classes;
      if (truth == c || guess == c)
        moved[k] += one.influence(truth == c, guess == c, one.value, is / rows, called / rows) /
                    static_cast<double>(known.size());
    }
  }
  double squares = 0;
  for (std::size_t k = 0; k < moved.size(); ++k) squares += cells.counts[k] * moved[k] * moved[k];
  // If all rows are right, or all are wrong, the counts say nothing about the uncertainty.
  if (squares == 0) return valued(name, {not_a_number, mean, not_a_number}, rows);
  const Interval normal = around(mean, squares / rows / rows);
  return valued(name, {std::max(0.0, normal.low), mean, std::min(1.0, normal.high)}, rows);
}

ClassValue class_precision(double hits, double, double called) {
  return {called > 0 ? hits / called : 0, of_precision};
}
ClassValue class_recall(double hits, double is, double) {
  return {is > 0 ? hits / is : 0, of_recall};
}
ClassValue class_f1(double hits, double is, double called) {
  return {2 * hits / (is + called), of_f1};
}

}  // namespace

Metrics binary_metrics(const ScoredRows& rows) {
  Cells cells(2);
  std::vector<double> losses;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const bool called = rows.scores[i] > 0.5, is = rows.labels[i] != 0;
    ++cells.at(is ? 1 : 0, called ? 1 : 0);
    losses.push_back(loss_of(is ? rows.scores[i] : 1 - rows.scores[i]));
  }
  const double hits = cells.at(1, 1), all = cells.rows();
  Metrics metrics{.rows = static_cast<std::int64_t>(rows.labels.size())};
  metrics.list = {proportion("base_rate", cells.of(1), all),
                  valued("auc", area_under_curve(rows.scores, rows.labels), all),
                  mean_metric("log_loss", losses),
                  proportion("accuracy", cells.hits(), all),
                  proportion("precision", hits, cells.called(1)),
                  proportion("recall", hits, cells.of(1)),
                  f1_metric(hits, cells.at(0, 1), cells.at(1, 0))};
  metrics.confusion = matrix_of(cells, rows.classes);
  return metrics;
}

Metrics multiclass_metrics(const ScoredRows& rows) {
  const std::size_t n = rows.labels.size();
  const std::size_t classes =
      std::max(rows.classes.size(), n == 0 ? std::size_t{1} : rows.scores.size() / n);
  Cells cells(classes);
  std::vector<double> losses;
  for (std::size_t i = 0; i < n; ++i) {
    const auto of_row = rows.scores.subspan(i * classes, classes);
    const auto is = static_cast<std::size_t>(rows.labels[i]);
    const auto called = std::max_element(of_row.begin(), of_row.end()) - of_row.begin();
    ++cells.at(is, static_cast<std::size_t>(called));
    losses.push_back(loss_of(of_row[is]));
  }
  double most = 0;
  for (std::size_t c = 0; c < classes; ++c) most = std::max(most, cells.of(c));
  Metrics metrics{.rows = static_cast<std::int64_t>(n)};
  metrics.list = {proportion("base_rate", most, cells.rows()),
                  mean_metric("log_loss", losses),
                  proportion("accuracy", cells.hits(), cells.rows()),
                  macro_metric("macro_precision", cells, class_precision),
                  macro_metric("macro_recall", cells, class_recall),
                  macro_metric("macro_f1", cells, class_f1)};
  metrics.confusion = matrix_of(cells, rows.classes);
  return metrics;
}

}  // namespace lockstep::gbdt
