// Computes bootstrap intervals for two groups, or for pairs.
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/stats/comparison.h"
#include "tools/stats/sample.h"

namespace lockstep {
namespace {

Interval in_values(Scale scale, const Interval& interval) {
  if (scale == Scale::difference) return interval;
  return {std::exp(interval.low), std::exp(interval.estimate), std::exp(interval.high)};
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The interval for two groups, before conversion from the scale. Rows of B follow those of A.
Interval of_groups(std::span<const double> a, std::span<const double> b,
                   const BootstrapOptions& options) {
  const Statistic shift = [&](std::span<const std::uint32_t> rows) {
    double sum_a = 0, sum_b = 0;
    std::size_t count_a = 0;
    for (const std::uint32_t row : rows)
      if (row < a.size()) {
        sum_a += a[row];
        ++count_a;
      } else {
        sum_b += b[row - a.size()];
      }
    if (count_a == 0 || count_a == rows.size()) return std::numeric_limits<double>::quiet_NaN();
    return sum_b / static_cast<double>(rows.size() - count_a) -
           sum_a / static_cast<double>(count_a);
  };
  const auto left_out = [&] {
    const double mean_a = mean_of(a), mean_b = mean_of(b);
    std::vector<double> shifts;
    for (const double without : means_without_each(a)) shifts.push_back(mean_b - without);
    for (const double without : means_without_each(b)) shifts.push_back(without - mean_a);
    return shifts;
  };
  return bootstrap(static_cast<std::uint32_t>(a.size() + b.size()), shift, left_out, options);
}

}  // namespace

std::optional<Interval> bootstrap_contrast(Scale scale, std::span<const double> a,
                                           std::span<const double> b, bool paired,
                                           double confidence) {
  check_confidence(confidence);
  const BootstrapOptions options{.confidence = confidence};
  if (paired) {
    const auto [kept_a, kept_b] = fitting_pairs(scale, a, b);
    if (kept_a.size() < bootstrap_least) return std::nullopt;
    return in_values(scale, bootstrap_mean(shifts_of(scale, kept_a, kept_b), options));
  }
  std::vector<double> kept_a = fitting(scale, a), kept_b = fitting(scale, b);
  if (kept_a.size() < bootstrap_least || kept_b.size() < bootstrap_least) return std::nullopt;
  if (scale == Scale::ratio) {
    for (double& value : kept_a) value = std::log(value);
    for (double& value : kept_b) value = std::log(value);
  }
  return in_values(scale, of_groups(kept_a, kept_b, options));
}

}  // namespace lockstep
