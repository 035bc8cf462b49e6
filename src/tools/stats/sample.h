// Mean and variance of one group of values, on the scale of the comparison.
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
  double mean = 0;      // NaN without a value
  double variance = 0;  // sample variance (n - 1); NaN with fewer than two values
  // mean in the unit of the values; geometric with Scale::ratio
  double mean_value(Scale scale) const;
};

// Returns the values that are finite and, with Scale::ratio, above zero.
std::vector<double> fitting(Scale scale, std::span<const double> values);

// Returns the pairs in which both values fit. Throws Error if the lengths differ.
std::pair<std::vector<double>, std::vector<double>> fitting_pairs(Scale scale,
                                                                  std::span<const double> a,
                                                                  std::span<const double> b);

// Returns b[i] - a[i]. With Scale::ratio, returns the differences of the logarithms.
std::vector<double> shifts_of(Scale scale, std::span<const double> a, std::span<const double> b);

void check_confidence(double confidence);  // throws Error unless it is in (0, 1)

}  // namespace lockstep
