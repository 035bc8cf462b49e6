#include "recipes/gbdt/metrics/intervals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::gbdt {

Interval wilson(double hits, double rows) {
  if (rows == 0) return {not_a_number, not_a_number, not_a_number};
  constexpr double z = quantile_975;
  const double p = hits / rows;
  const double centre = (p + z * z / (2 * rows)) / (1 + z * z / rows);
  const double half =
      z * std::sqrt(p * (1 - p) / rows + z * z / (4 * rows * rows)) / (1 + z * z / rows);
  // With no hits, the interval begins at exactly 0; with only hits, it ends at exactly 1. Rounding
  // could leave a difference of 1e-17.
  return {hits == 0 ? 0 : std::max(0.0, centre - half), p,
          hits == rows ? 1 : std::min(1.0, centre + half)};
}

Interval around(double estimate, double variance) {
  const double half = quantile_975 * std::sqrt(variance);
  return {estimate - half, estimate, estimate + half};
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of_mean(std::span<const double> values) {
  if (values.size() < 2) return not_a_number;
  const double n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n - 1) / n;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) result[order[k]] = 0.5 * static_cast<double>(i + 1 + end);
    i = end;
  }
  return result;
}

Metric proportion(const char* name, double part, double whole) {
  return {find_metric(name), wilson(part, whole), part, whole};
}

Metric mean_metric(const char* name, std::span<const double> values) {
  const double rows = static_cast<double>(values.size());
  Interval interval = around(mean_of(values), variance_of_mean(values));
  if (interval.low < 0) interval.low = 0;
  return valued(name, interval, rows);
}

Metric valued(const char* name, const Interval& value, double rows) {
  if (std::isnan(value.estimate)) return {find_metric(name), value, 0, 0};
  return {find_metric(name), value, value.estimate * rows, rows};
}

}  // namespace lockstep::gbdt
