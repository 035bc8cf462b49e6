// Metrics for people.
#pragma once

#include <string>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

std::string number_text(const MetricInfo& info, double value);  // "0.571"; of NaN "-"
std::string metric_text(const Metric& metric);                  // "0.571"
std::string interval_text(const Metric& metric);                // "0.571 (0.512 to 0.630)"
// The text of the metric with that name; "-" if there is none.
std::string metric_text(const Metrics& metrics, std::string_view name);

// A line for each metric of the two lists, with intervals. A list without rows is left out.
std::string metric_lines(const char* first_name, const Metrics& first, const char* second_name,
                         const Metrics& second);

}  // namespace lockstep::gbdt
