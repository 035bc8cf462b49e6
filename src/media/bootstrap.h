// Bootstrap confidence intervals: how far a metric would move on other samples of the same kind.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lockstep {

struct Interval {
  double low = 0, estimate = 0, high = 0;  // the estimate is the statistic of the sample itself
  friend bool operator==(const Interval&, const Interval&) = default;
};

// percentile: quantiles of the resampled statistics. bca: corrected for bias and skewness (Efron,
// JASA 1987); it takes the statistic `rows` times more.
enum class BootstrapMethod { percentile, bca };

struct BootstrapOptions {
  int resamples = 2000;      // at least 100
  double confidence = 0.95;  // in (0, 1)
  BootstrapMethod method = BootstrapMethod::bca;
  std::uint64_t seed = 0;  // the same seed gives the same interval
};

// A number of some rows of the sample, by their indexes: of a mean, a rate, a difference of two
// systems on the same rows. What depends on each other (sentences of one text) must be one row.
using Statistic = std::function<double(std::span<const std::uint32_t> rows)>;

// Resamples for which the statistic is not finite (a rate of nothing) are left out; where that are
// more than half, or the estimate itself is not finite, low and high are NaN. One row, or all
// statistics equal: low and high are the estimate. Throws Error for options out of range and no
// rows.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const BootstrapOptions& options = {});

// Of several statistics of one sample, each as `bootstrap` tells it. All see the same resamples,
// which are drawn once.
std::vector<Interval> bootstrap_all(std::uint32_t rows, std::span<const Statistic> statistics,
                                    const BootstrapOptions& options = {});

// As `bootstrap`, where the statistic without each row in turn is known faster than by as many
// calls.
Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const std::function<std::vector<double>()>& left_out,
                   const BootstrapOptions& options);

// The mean of the others, for each value; NaN of one value alone.
std::vector<double> means_without_each(std::span<const double> values);

// Of the mean of some values.
Interval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options = {});

}  // namespace lockstep
