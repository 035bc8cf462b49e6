// Intervals in closed form, for the metrics of one window. All are 95 %.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double quantile_975 = 1.959963984540054;  // of the normal distribution

// The interval of a proportion; NaN without rows.
Interval wilson(double hits, double rows);
// The normal interval. Its ends are NaN if the variance is.
Interval around(double estimate, double variance);
double mean_of(std::span<const double> values);           // NaN without values
double variance_of_mean(std::span<const double> values);  // NaN with fewer than two

// Ranks from 1; equal values share their mean rank.
std::vector<double> ranks(std::span<const double> values);

// A metric whose value is part / whole, with Wilson's interval. `name` is in the table.
Metric proportion(const char* name, double part, double whole);
// The mean of some values, one per row or group and none below 0, with the normal interval.
Metric mean_metric(const char* name, std::span<const double> values);
// A metric with any value. When windows are combined, it counts in proportion to its rows.
Metric valued(const char* name, const Interval& value, double rows);

}  // namespace lockstep::gbdt
