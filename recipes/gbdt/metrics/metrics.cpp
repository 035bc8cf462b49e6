#include "recipes/gbdt/metrics/metrics.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recipes/gbdt/metrics/intervals.h"

namespace lockstep::gbdt {
namespace {

const Metric* find(const Metrics& metrics, const MetricInfo* info) {
  for (const Metric& metric : metrics.list)
    if (metric.info == info) return &metric;
  return nullptr;
}

double value_of(const MetricInfo& info, double part, double whole) {
  if (whole == 0) return not_a_number;
  const double ratio = part / whole;
  return info.of_ratio == nullptr ? ratio : info.of_ratio(ratio);
}

// The sums of one metric, one number for each window that has the metric.
struct Sums {
  std::vector<double> parts, wholes;
};

Sums sums_of(std::span<const Metrics> windows, const MetricInfo& info) {
  Sums sums;
  for (const Metrics& window : windows)
    if (const Metric* const metric = find(window, &info); metric != nullptr) {
      sums.parts.push_back(metric->part);
      sums.wholes.push_back(metric->whole);
    }
  return sums;
}

Statistic statistic_of(const MetricInfo& info, const Sums& sums) {
  return [&](std::span<const std::uint32_t> rows) {
    double part = 0, whole = 0;
    for (const std::uint32_t i : rows) {
      part += sums.parts[i];
      whole += sums.wholes[i];
    }
    return value_of(info, part, whole);
  };
}

// Computes bootstrap intervals. Metrics with the same number of windows share their resamples.
void add_intervals(std::vector<Metric>& metrics, const std::vector<Sums>& sums) {
  std::map<std::size_t, std::vector<std::size_t>> by_count;
  for (std::size_t i = 0; i < metrics.size(); ++i) by_count[sums[i].parts.size()].push_back(i);
  for (const auto& [count, places] : by_count) {
    std::vector<Statistic> statistics;
    for (const std::size_t i : places)
      statistics.push_back(statistic_of(*metrics[i].info, sums[i]));
    const std::vector<Interval> intervals = bootstrap_all(
        static_cast<std::uint32_t>(count), statistics, {.method = BootstrapMethod::percentile});
    for (std::size_t k = 0; k < places.size(); ++k) metrics[places[k]].value = intervals[k];
  }
}

double number(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : not_a_number;
}

nlohmann::json or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

Interval Metrics::value(std::string_view name) const {
  const Metric* const metric = find(*this, find_metric(name));
  return metric == nullptr ? Interval{not_a_number, not_a_number, not_a_number} : metric->value;
}

Metrics over_windows(std::span<const Metrics> windows) {
  if (windows.size() == 1) return windows[0];
  Metrics total;
  for (const Metrics& window : windows) {
    total.rows += window.rows;
    for (const auto& [is, row] : window.confusion)
      for (const auto& [called, count] : row) total.confusion[is][called] += count;
  }
  std::vector<Sums> sums;
  for (const MetricInfo& info : all_metrics()) {
    Sums one = sums_of(windows, info);
    if (one.parts.empty()) continue;
    total.list.push_back({.info = &info,
                          .part = std::accumulate(one.parts.begin(), one.parts.end(), 0.0),
                          .whole = std::accumulate(one.wholes.begin(), one.wholes.end(), 0.0)});
    sums.push_back(std::move(one));
  }
  add_intervals(total.list, sums);
  return total;
}

Metrics mean_of_windows(std::span<const Metrics> windows) {
  Metrics means;
  for (const MetricInfo& info : all_metrics()) {
    double sum = 0, count = 0;
    for (const Metrics& window : windows) {
      const double value = window.value(info.name).estimate;
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    if (count > 0)
      means.list.push_back({.info = &info, .value = {not_a_number, sum / count, not_a_number}});
  }
  for (const Metrics& window : windows) means.rows += window.rows;
  return means;
}

nlohmann::json to_json(const Metrics& metrics) {
  nlohmann::json json = {{"rows", metrics.rows}, {"sums", nlohmann::json::object()}};
  for (const Metric& metric : metrics.list) {
    const std::string name = metric.info->name;
    json[name] = or_null(metric.value.estimate);
    json[name + "_interval"] = {or_null(metric.value.low), or_null(metric.value.high)};
    json["sums"][name] = {or_null(metric.part), or_null(metric.whole)};
  }
  if (!metrics.confusion.empty()) json["confusion"] = metrics.confusion;
  return json;
}

Metrics metrics_from_json(const nlohmann::json& json) {
  Metrics metrics{.rows = json.at("rows").get<std::int64_t>()};
  for (const MetricInfo& info : all_metrics()) {
    if (!json.contains(info.name)) continue;
    const nlohmann::json& ends = json.at(std::string(info.name) + "_interval");
    const nlohmann::json& sums = json.at("sums").at(info.name);
    metrics.list.push_back({&info,
                            {number(ends.at(0)), number(json.at(info.name)), number(ends.at(1))},
                            number(sums.at(0)),
                            number(sums.at(1))});
  }
  if (json.contains("confusion")) metrics.confusion = json["confusion"].get<ConfusionMatrix>();
  return metrics;
}

}  // namespace lockstep::gbdt
