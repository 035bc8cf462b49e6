#include "recipes/gbdt/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

namespace lockstep::gbdt {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double z = 1.959963984540054;  // 97.5 % quantile of the normal distribution

double ratio(double a, double b) { return b == 0 ? nan : a / b; }

Interval wilson(std::int64_t hits, std::int64_t rows) {
  if (rows == 0) return {nan, nan, nan};
  const double n = static_cast<double>(rows), p = static_cast<double>(hits) / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return {std::max(0.0, centre - half), p, std::min(1.0, centre + half)};
}

// J / (TP + FP + FN) grows with F1, so its interval is F1's.
Interval f1_interval(const Confusion& c) {
  const auto f1 = [](double j) { return 2 * j / (1 + j); };
  const Interval j = wilson(c.true_positive, c.true_positive + c.false_positive + c.false_negative);
  return {f1(j.low), f1(j.estimate), f1(j.high)};
}

double variance_of_mean(std::span<const double> values) {
  if (values.size() < 2) return nan;
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n - 1) / n;
}

Interval around(double estimate, double variance) {
  const double half = z * std::sqrt(variance);
  return {estimate - half, estimate, estimate + half};
}

// Ranks from 1, equal values sharing their mean rank.
std::vector<double> ranks(const std::vector<double>& values) {
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

// On the logit, so that the interval stays within 0 and 1; an AUC of 0 or 1 has no such variance.
Interval auc_interval(double auc, double variance) {
  if (!(auc > 0 && auc < 1) || !(variance >= 0)) return {nan, auc, nan};
  const Interval logit = around(std::log(auc / (1 - auc)), variance / std::pow(auc * (1 - auc), 2));
  const auto back = [](double x) { return 1 / (1 + std::exp(-x)); };
  return {back(logit.low), auc, back(logit.high)};
}

// By placements: of each positive the share of negatives below it, of each negative the share of
// positives above (Sun and Xu, IEEE SPL 2014).
Interval area_under_curve(std::span<const double> probabilities,
                          std::span<const std::uint8_t> labels) {
  std::vector<double> positive, negative;
  for (std::size_t i = 0; i < labels.size(); ++i)
    (labels[i] != 0 ? positive : negative).push_back(probabilities[i]);
  if (positive.empty() || negative.empty()) return {nan, nan, nan};
  std::vector<double> all = positive;
  all.insert(all.end(), negative.begin(), negative.end());
  const std::vector<double> among_all = ranks(all), own = ranks(positive),
                            own_negative = ranks(negative);
  const double m = static_cast<double>(positive.size()), n = static_cast<double>(negative.size());
  std::vector<double> below(positive.size()), above(negative.size());
  for (std::size_t i = 0; i < below.size(); ++i) below[i] = (among_all[i] - own[i]) / n;
  for (std::size_t i = 0; i < above.size(); ++i)
    above[i] = 1 - (among_all[positive.size() + i] - own_negative[i]) / m;
  const double auc = std::accumulate(below.begin(), below.end(), 0.0) / m;
  return auc_interval(auc, variance_of_mean(below) + variance_of_mean(above));
}

Interval mean_log_loss(std::span<const double> probabilities,
                       std::span<const std::uint8_t> labels) {
  if (labels.empty()) return {nan, nan, nan};
  std::vector<double> losses(labels.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double p = std::clamp(probabilities[i], 1e-15, 1 - 1e-15);
    losses[i] = -std::log(labels[i] != 0 ? p : 1 - p);
  }
  const double mean =
      std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  return around(mean, variance_of_mean(losses));
}

void fill_proportions(BinaryMetrics& metrics) {
  const Confusion& c = metrics.counts;
  metrics.accuracy = wilson(c.true_positive + c.true_negative, c.rows());
  metrics.precision = wilson(c.true_positive, c.true_positive + c.false_positive);
  metrics.recall = wilson(c.true_positive, c.true_positive + c.false_negative);
  metrics.base_rate = wilson(c.true_positive + c.false_negative, c.rows());
  metrics.f1 = f1_interval(c);
}

Confusion sum(std::span<const BinaryMetrics> windows, std::span<const std::uint32_t> which) {
  Confusion total;
  for (const std::uint32_t i : which) {
    const Confusion& c = windows[i].counts;
    total.true_positive += c.true_positive;
    total.false_positive += c.false_positive;
    total.true_negative += c.true_negative;
    total.false_negative += c.false_negative;
  }
  return total;
}

// Mean of what the windows have, weighted by their rows.
double weighted_mean(std::span<const BinaryMetrics> windows, std::span<const std::uint32_t> which,
                     Interval BinaryMetrics::*field) {
  double total = 0, rows = 0;
  for (const std::uint32_t i : which) {
    const double value = (windows[i].*field).estimate;
    if (std::isnan(value)) continue;
    const double weight = static_cast<double>(windows[i].counts.rows());
    total += weight * value;
    rows += weight;
  }
  return ratio(total, rows);
}

}  // namespace

BinaryMetrics binary_metrics(std::span<const double> probabilities,
                             std::span<const std::uint8_t> labels, double threshold) {
  BinaryMetrics metrics;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool called = probabilities[i] > threshold, is = labels[i] != 0;
    ++(called ? is ? metrics.counts.true_positive : metrics.counts.false_positive
       : is   ? metrics.counts.false_negative
              : metrics.counts.true_negative);
  }
  fill_proportions(metrics);
  metrics.auc = area_under_curve(probabilities, labels);
  metrics.log_loss = mean_log_loss(probabilities, labels);
  return metrics;
}

BinaryMetrics over_windows(std::span<const BinaryMetrics> windows) {
  std::vector<std::uint32_t> all(windows.size());
  std::iota(all.begin(), all.end(), 0);
  BinaryMetrics total{.counts = sum(windows, all)};
  fill_proportions(total);
  if (windows.empty()) {
    total.auc = total.log_loss = {nan, nan, nan};
    return total;
  }
  const auto by_windows = [&](auto statistic) {
    return bootstrap(static_cast<std::uint32_t>(windows.size()), statistic,
                     {.method = BootstrapMethod::percentile});
  };
  using Rows = std::span<const std::uint32_t>;
  const auto share = [&](auto hits, auto of) {
    return by_windows([&windows, hits, of](Rows rows) {
      const Confusion c = sum(windows, rows);
      return ratio(static_cast<double>(hits(c)), static_cast<double>(of(c)));
    });
  };
  using C = Confusion;
  const auto positives = [](const C& c) { return c.true_positive + c.false_negative; };
  const auto hits = [](const C& c) { return c.true_positive; };
  const auto rows = [](const C& c) { return c.rows(); };
  total.accuracy = share([](const C& c) { return c.true_positive + c.true_negative; }, rows);
  total.precision = share(hits, [](const C& c) { return c.true_positive + c.false_positive; });
  total.recall = share(hits, positives);
  total.base_rate = share(positives, rows);
  total.f1 =
      share([](const C& c) { return 2 * c.true_positive; },
            [](const C& c) { return 2 * c.true_positive + c.false_positive + c.false_negative; });
  total.auc =
      by_windows([&](Rows which) { return weighted_mean(windows, which, &BinaryMetrics::auc); });
  total.log_loss = by_windows(
      [&](Rows which) { return weighted_mean(windows, which, &BinaryMetrics::log_loss); });
  return total;
}

nlohmann::json to_json(const BinaryMetrics& metrics) {
  nlohmann::json json = {{"rows", metrics.counts.rows()},
                         {"true_positive", metrics.counts.true_positive},
                         {"false_positive", metrics.counts.false_positive},
                         {"true_negative", metrics.counts.true_negative},
                         {"false_negative", metrics.counts.false_negative}};
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  const auto add = [&](const std::string& name, const Interval& interval) {
    json[name] = number(interval.estimate);
    json[name + "_interval"] = {number(interval.low), number(interval.high)};
  };
  add("accuracy", metrics.accuracy);
  add("precision", metrics.precision);
  add("recall", metrics.recall);
  add("f1", metrics.f1);
  add("auc", metrics.auc);
  add("log_loss", metrics.log_loss);
  add("base_rate", metrics.base_rate);
  return json;
}

BinaryMetrics metrics_from_json(const nlohmann::json& json) {
  const auto count = [&](const char* name) { return json.at(name).get<std::int64_t>(); };
  const auto number = [](const nlohmann::json& value) {
    return value.is_number() ? value.get<double>() : nan;
  };
  const auto interval = [&](const std::string& name) {
    const nlohmann::json& ends = json.at(name + "_interval");
    return Interval{number(ends.at(0)), number(json.at(name)), number(ends.at(1))};
  };
  return {.counts = {.true_positive = count("true_positive"),
                     .false_positive = count("false_positive"),
                     .true_negative = count("true_negative"),
                     .false_negative = count("false_negative")},
          .accuracy = interval("accuracy"),
          .precision = interval("precision"),
          .recall = interval("recall"),
          .f1 = interval("f1"),
          .auc = interval("auc"),
          .log_loss = interval("log_loss"),
          .base_rate = interval("base_rate")};
}

}  // namespace lockstep::gbdt
