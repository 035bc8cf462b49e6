// Computes 95 % intervals in closed form, for the metrics of one window.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
// The 97.5 % quantile of the normal distribution.
inline constexpr double quantile_975 = 1.959963984540054;

// Returns the proportion hits / rows with Wilson's interval. All numbers are NaN without rows.
Interval wilson(double hits, double rows);
// Returns the interval of a normal distribution around `estimate`. Its ends are NaN if the variance
// is NaN.
Interval around(double estimate, double variance);
double mean_of(std::span<const double> values);           // NaN without values
double variance_of_mean(std::span<const double> values);  // NaN with fewer than two values

// Returns the rank of each value, from 1 for the smallest. Equal values all get the mean of their
// ranks.
std::vector<double> ranks(std::span<const double> values);

// Returns a metric with the value part / whole and Wilson's interval. name: a name in the table of
// metric_info.cpp.
Metric proportion(const char* name, double part, double whole);
// Returns the mean of some values with the interval of a normal distribution. There is one value
// per row or group, and none is below 0.
Metric mean_metric(const char* name, std::span<const double> values);
// Returns a metric with the given value and interval. When windows are combined, its weight is
// `rows`.
Metric valued(const char* name, const Interval& value, double rows);

}  // namespace lockstep::gbdt
