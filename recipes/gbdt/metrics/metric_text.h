// Metrics for people.
#pragma once

#include <string>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

std::string number_text(const MetricInfo& info, double value);  // "0.571"; of NaN "-"
std::string metric_text(const Metric& metric);                  // "0.571"
std::string interval_text(const Metric& metric);                // "0.571 (0.512 to 0.630)"
// The text of the metric of that name among these; "-" if it is not there.
std::string metric_text(const Metrics& metrics, std::string_view name);

// A line for each metric of these two, with intervals; nothing of one that has no rows.
std::string metric_lines(const char* first_name, const Metrics& first, const char* second_name,
                         const Metrics& second);

}  // namespace lockstep::gbdt
