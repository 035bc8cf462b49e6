#include "recipes/gbdt/metrics/metric_text.h"

#include <algorithm>
#include <cmath>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {

std::string number_text(const MetricInfo& info, double value) {
  if (std::isnan(value)) return "-";
  return info.is_share ? fixed(value, 3) : general(value, 4);
}

std::string metric_text(const Metric& metric) {
  return number_text(*metric.info, metric.value.estimate);
}

std::string interval_text(const Metric& metric) {
  const Interval& value = metric.value;
  if (std::isnan(value.estimate) || std::isnan(value.low)) return metric_text(metric);
  return cat(metric_text(metric), " (", number_text(*metric.info, value.low), " to ",
             number_text(*metric.info, value.high), ")");
}

std::string metric_text(const Metrics& metrics, std::string_view name) {
  for (const Metric& metric : metrics.list)
    if (name == metric.info->name) return metric_text(metric);
  return "-";
}

std::string metric_lines(const char* first_name, const Metrics& first, const char* second_name,
                         const Metrics& second) {
  if (first.rows == 0) return second.rows == 0 ? "" : metric_lines(second_name, second, "", {});
  constexpr int value_width = 32;
  int name_width = 12;
  for (const Metric& metric : first.list)
    name_width = std::max(name_width, cells_of(metric.info->title) + 2);
  const bool both = second.rows > 0;
  const auto line = [&](const std::string& name, const std::string& one, const std::string& two) {
    return cat(pad_cells(name, name_width), both ? pad_cells(one, value_width) : one,
               both ? two : "", "\n");
  };
  const auto text = [](const Metric& metric) {
    return std::isnan(metric.value.estimate) ? "undefined" : interval_text(metric);
  };
  std::string lines = line("", cat(first_name, ", ", first.rows, " rows"),
                           cat(second_name, ", ", second.rows, " rows"));
  for (std::size_t i = 0; i < first.list.size(); ++i)
    lines += line(first.list[i].info->title, text(first.list[i]), both ? text(second.list[i]) : "");
  return lines;
}

}  // namespace lockstep::gbdt
