// Prints metrics for users.
#pragma once

#include <string>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

std::string number_text(const MetricInfo& info, double value);  // "0.571"; "-" for NaN
std::string metric_text(const Metric& metric);                  // "0.571"
std::string interval_text(const Metric& metric);                // "0.571 (0.512 to 0.630)"
// Returns the text of the metric with that name, or "-" if the list lacks it.
std::string metric_text(const Metrics& metrics, std::string_view name);

// Returns a line for each metric, with the values and intervals in `first` and `second`. If
// Metrics::rows of one of them is 0, it is left out.
std::string metric_lines(const char* first_name, const Metrics& first, const char* second_name,
                         const Metrics& second);

}  // namespace lockstep::gbdt
