#include "recipes/gbdt/metrics/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

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

Metric over(std::span<const Metrics> windows, const MetricInfo& info) {
  Metric total{.info = &info, .value = {not_a_number, not_a_number, not_a_number}};
  std::vector<double> parts, wholes;
  for (const Metrics& window : windows)
    if (const Metric* const metric = find(window, &info); metric != nullptr) {
      parts.push_back(metric->part);
      wholes.push_back(metric->whole);
      total.part += metric->part;
      total.whole += metric->whole;
    }
  const auto statistic = [&](std::span<const std::uint32_t> rows) {
    double part = 0, whole = 0;
    for (const std::uint32_t i : rows) {
      part += parts[i];
      whole += wholes[i];
    }
    return value_of(info, part, whole);
  };
  if (!parts.empty())
    total.value = bootstrap(static_cast<std::uint32_t>(parts.size()), statistic,
                            {.method = BootstrapMethod::percentile});
  return total;
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
  for (const MetricInfo& info : all_metrics())
    for (const Metrics& window : windows)
      if (find(window, &info) != nullptr) {
        total.list.push_back(over(windows, info));
        break;
      }
  return total;
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
