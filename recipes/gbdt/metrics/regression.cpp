// Metrics for numbers.
#include <algorithm>
#include <cmath>

#include "recipes/gbdt/metrics/intervals.h"

namespace lockstep::gbdt {
namespace {

Interval correlation_interval(double r, double rows) {
  if (!(rows > 3) || !(std::abs(r) < 1)) return {not_a_number, r, not_a_number};
  const Interval z = around(std::atanh(r), (1 + r * r / 2) / (rows - 3));
  return {std::tanh(z.low), r, std::tanh(z.high)};
}

// Pearson's correlation of the ranks.
Interval rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> of_a = ranks(a), of_b = ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double both = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    both += (of_a[i] - mean) * (of_b[i] - mean);
    first += (of_a[i] - mean) * (of_a[i] - mean);
    second += (of_b[i] - mean) * (of_b[i] - mean);
  }
  if (first == 0 || second == 0) return {not_a_number, not_a_number, not_a_number};
  return correlation_interval(both / std::sqrt(first * second), static_cast<double>(a.size()));
}

Metric rmse_metric(std::span<const double> squares) {
  const double rows = static_cast<double>(squares.size());
  const Interval mean = around(mean_of(squares), variance_of_mean(squares));
  // std::max is not used, because it would turn NaN into 0.
  return {find_metric("rmse"),
          {std::sqrt(mean.low < 0 ? 0 : mean.low), std::sqrt(mean.estimate), std::sqrt(mean.high)},
          rows == 0 ? 0 : mean.estimate * rows,
          rows};
}

// 1 - errors / deviations. The variance follows from the delta method for a ratio, which gives the
// influence of each row.
Metric r2_metric(std::span<const double> errors, std::span<const double> deviations) {
  double error = 0, deviation = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    error += errors[i];
    deviation += deviations[i];
  }
  if (deviation == 0) return valued("r2", {not_a_number, not_a_number, not_a_number}, 0);
  const double ratio = error / deviation, mean = deviation / static_cast<double>(errors.size());
  std::vector<double> moved;
  for (std::size_t i = 0; i < errors.size(); ++i)
    moved.push_back((errors[i] - ratio * deviations[i]) / mean);
  return {find_metric("r2"), around(1 - ratio, variance_of_mean(moved)), error, deviation};
}

}  // namespace

Metrics regression_metrics(const ScoredRows& rows) {
  const std::size_t n = rows.labels.size();
  std::vector<double> squares, absolute, deviations;
  const double mean = mean_of(rows.labels);
  for (std::size_t i = 0; i < n; ++i) {
    const double error = rows.scores[i] - rows.labels[i], off = rows.labels[i] - mean;
    squares.push_back(error * error);
    absolute.push_back(std::abs(error));
    deviations.push_back(off * off);
  }
  const double variance = mean_of(deviations);
  const double count = static_cast<double>(n), base = std::sqrt(variance);
  Metrics metrics{.rows = static_cast<std::int64_t>(n)};
  metrics.list = {Metric{find_metric("base_rmse"),
                         {not_a_number, base, not_a_number},
                         n == 0 ? 0 : variance * count,
                         count},
                  rmse_metric(squares), mean_metric("mae", absolute),
                  r2_metric(squares, deviations),
                  valued("spearman", rank_correlation(rows.scores, rows.labels), count)};
  return metrics;
}

Metrics quantile_metrics(const ScoredRows& rows) {
  Metrics metrics = regression_metrics(rows);
  std::vector<double> losses;
  double covered = 0;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const double above = rows.labels[i] - rows.scores[i];
    losses.push_back(std::max(rows.alpha * above, (rows.alpha - 1) * above));
    covered += above <= 0;
  }
  metrics.list.push_back(mean_metric("pinball", losses));
  metrics.list.push_back(proportion("coverage", covered, static_cast<double>(rows.labels.size())));
  return metrics;
}

}  // namespace lockstep::gbdt
