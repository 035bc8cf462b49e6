// Bootstrap confidence intervals: how far a metric would vary on other samples of the same kind.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lockstep {

struct Interval {
  double low = 0, estimate = 0, high = 0;  // the estimate is the statistic of the original sample
  friend bool operator==(const Interval&, const Interval&) = default;
};

// percentile: quantiles of the resampled statistics. bca: corrected for bias and skewness (Efron,
// JASA 1987); it computes the statistic `rows` times more.
enum class BootstrapMethod { percentile, bca };

struct BootstrapOptions {
  int resamples = 2000;      // at least 100
  double confidence = 0.95;  // in (0, 1)
  BootstrapMethod method = BootstrapMethod::bca;
  std::uint64_t seed = 0;  // the same seed gives the same interval
};

// A statistic of some rows of the sample, given by index: a mean, a rate, a difference of two
// systems on the same rows. Dependent items (sentences of one text) must form one row.
using Statistic = std::function<double(std::span<const std::uint32_t> rows)>;

// Resamples whose statistic is not finite (such as a rate with denominator 0) are left out. If more
// than half are, or the estimate is not finite, low and high are NaN. With one row, or if all
// statistics are equal, low and high are the estimate. Throws Error for options out of range and
// for no rows.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const BootstrapOptions& options = {});

// Intervals of several statistics of one sample, each as from `bootstrap`. All use the same
// resamples, which are drawn once.
std::vector<Interval> bootstrap_all(std::uint32_t rows, std::span<const Statistic> statistics,
                                    const BootstrapOptions& options = {});

// As `bootstrap`, for a statistic whose values without each row in turn (`left_out`) can be
// computed faster than by one call per row.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const std::function<std::vector<double>()>& left_out,
                   const BootstrapOptions& options);

// For each value, the mean of the others; NaN for a single value.
std::vector<double> means_without_each(std::span<const double> values);

// The interval of the mean of some values.
Interval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options = {});

}  // namespace lockstep
