// Bootstrap confidence intervals. They show how much a metric would vary on other samples of the
// same kind.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lockstep {

struct Interval {
  double low = 0, estimate = 0, high = 0;  // estimate: the statistic of the original sample
  friend bool operator==(const Interval&, const Interval&) = default;
};

// percentile: quantiles of the statistics of the resamples. bca: these quantiles, corrected for
// bias and skewness (Efron, JASA 1987). For this, bca also computes the statistic once without each
// row.
enum class BootstrapMethod { percentile, bca };

struct BootstrapOptions {
  int resamples = 2000;      // 100 to 10,000,000
  double confidence = 0.95;  // in (0, 1)
  BootstrapMethod method = BootstrapMethod::bca;
  std::uint64_t seed = 0;  // the same seed gives the same interval
};

// Computes a statistic of some rows of the sample, such as a mean, a rate, or the difference
// between two systems on the same rows. rows: indexes of the rows; an index may occur several
// times. Items that depend on each other, such as sentences of one text, must form one row.
using Statistic = std::function<double(std::span<const std::uint32_t> rows)>;

// Returns the confidence interval of a statistic. rows: number of rows in the sample. A resample is
// left out if its statistic is not finite, such as a rate with denominator 0. If more than half of
// the resamples are left out, or if the estimate is not finite, low and high are NaN. If there is
// one row, or if all statistics are equal, low and high equal the estimate. Throws Error if an
// option is out of range, or if there is no row.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const BootstrapOptions& options = {});

// Returns the intervals of several statistics of one sample, each as from `bootstrap`. All use the
// same resamples, which are drawn once.
std::vector<Interval> bootstrap_all(std::uint32_t rows, std::span<const Statistic> statistics,
                                    const BootstrapOptions& options = {});

// The same as the first function, with a faster way to compute the statistic without each row.
// left_out: returns these values, one per row.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const std::function<std::vector<double>()>& left_out,
                   const BootstrapOptions& options);

// Returns for each value the mean of all other values; NaN for a single value.
std::vector<double> means_without_each(std::span<const double> values);

// Returns the interval of the mean of the values.
Interval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options = {});

}  // namespace lockstep
