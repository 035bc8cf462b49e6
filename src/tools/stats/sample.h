// One group of values on its scale of comparison.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tools/stats/comparison.h"

namespace lockstep {

// Mean and variance of values, or of their logarithms with Scale::ratio. All values must fit the
// scale (`fitting`).
struct Sample {
  Sample(Scale scale, std::span<const double> values);

  int count = 0;
  double mean = 0;                       // NaN without a value
  double variance = 0;                   // of a sample (n - 1); NaN with one value or none
  double mean_value(Scale scale) const;  // in the values' own unit: geometric with Scale::ratio
};

// Returns the values that are finite and, with Scale::ratio, above zero.
std::vector<double> fitting(Scale scale, std::span<const double> values);

// Returns the pairs whose values both fit. Throws Error if the lengths differ.
std::pair<std::vector<double>, std::vector<double>> fitting_pairs(Scale scale,
                                                                  std::span<const double> a,
                                                                  std::span<const double> b);

// Returns b[i] - a[i], with Scale::ratio the difference of the logarithms.
std::vector<double> shifts_of(Scale scale, std::span<const double> a, std::span<const double> b);

void check_confidence(double confidence);  // throws Error unless in (0, 1)

}  // namespace lockstep
