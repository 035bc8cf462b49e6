#include "core/media/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

void check_bootstrap(std::uint32_t rows, const BootstrapOptions& options) {
  constexpr int least = 100, most = 10'000'000;
  if (rows == 0) throw Error("a bootstrap interval needs at least one row");
  if (options.resamples < least || options.resamples > most)
    throw Error(cat("a bootstrap interval needs ", least, " to ", most, " resamples, but got ",
                    options.resamples));
  if (!(options.confidence > 0 && options.confidence < 1))
    throw Error(
        cat("the confidence of an interval must be between 0 and 1, but is ", options.confidence),
        "0.95 is usual");
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// The z below which a standard normal number lies with probability p, found by bisection.
double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_below(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The finite values of each statistic over the resamples, sorted.
std::vector<std::vector<double>> resampled(std::uint32_t rows,
                                           std::span<const Statistic> statistics,
                                           const BootstrapOptions& options) {
  std::vector<std::vector<double>> values(statistics.size());
  std::vector<std::uint32_t> drawn(rows);
  for (int i = 0; i < options.resamples; ++i) {
    Random random(options.seed, RandomStream::bootstrap, static_cast<std::uint64_t>(i), 0);
    for (std::uint32_t& row : drawn) row = static_cast<std::uint32_t>(random.below(rows));
    for (std::size_t k = 0; k < statistics.size(); ++k)
      if (const double value = statistics[k](drawn); std::isfinite(value))
        values[k].push_back(value);
  }
  for (std::vector<double>& one : values) std::sort(one.begin(), one.end());
  return values;
}

// Interpolates between the two nearest values.
double quantile(const std::vector<double>& sorted, double p) {
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

using LeftOut = std::function<std::vector<double>()>;

// The statistic computed without each row in turn.
std::vector<double> leave_out(std::uint32_t rows, const Statistic& statistic) {
  std::vector<std::uint32_t> others(rows - 1);
  std::vector<double> left_out;
  for (std::uint32_t i = 0; i < rows; ++i) {
    std::iota(others.begin(), others.begin() + i, 0U);
    std::iota(others.begin() + i, others.end(), i + 1);
    left_out.push_back(statistic(others));
  }
  return left_out;
}

// The acceleration of the BCa bootstrap: the skewness of the effect of leaving out one row. It
// describes how the spread of the statistic changes with its value.
double acceleration(std::vector<double> left_out) {
  std::erase_if(left_out, [](double value) { return !std::isfinite(value); });
  if (left_out.empty()) return 0;
  const double mean =
      std::accumulate(left_out.begin(), left_out.end(), 0.0) / static_cast<double>(left_out.size());
  double squares = 0, cubes = 0;
  for (const double value : left_out) {
    squares += (mean - value) * (mean - value);
    cubes += (mean - value) * (mean - value) * (mean - value);
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

// The share of resamples below the estimate. Resamples equal to it count half.
double share_below(const std::vector<double>& sorted, double estimate) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), estimate);
  const double below =
      static_cast<double>(first - sorted.begin()) + static_cast<double>(last - first) / 2;
  return below / static_cast<double>(sorted.size());
}

// sorted: values of the statistic for the resamples.
Interval interval_of(const LeftOut& left_out, double estimate, const std::vector<double>& sorted,
                     const BootstrapOptions& options) {
  Interval interval{not_known, estimate, not_known};
  if (sorted.size() * 2 < static_cast<std::size_t>(options.resamples)) return interval;
  const double tail = (1 - options.confidence) / 2;
  double low = tail, high = 1 - tail;
  const double below = share_below(sorted, estimate);
  if (options.method == BootstrapMethod::bca && below > 0 && below < 1) {
    const double bias = normal_quantile(below), skew = acceleration(left_out());
    const auto corrected = [&](double p) {
      const double z = bias + normal_quantile(p), rest = 1 - skew * z;
      return rest > 0 ? normal_below(bias + z / rest) : (z > 0 ? 1.0 : 0.0);
    };
    low = corrected(tail);
    high = corrected(1 - tail);
  }
  interval.low = quantile(sorted, low);
  interval.high = quantile(sorted, high);
  return interval;
}

}  // namespace

std::vector<Interval> bootstrap_all(std::uint32_t rows, std::span<const Statistic> statistics,
                                    const BootstrapOptions& options) {
  check_bootstrap(rows, options);
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<Interval> intervals;
  std::vector<Statistic> known;
  std::vector<std::size_t> places;
  for (const Statistic& statistic : statistics) {
    const double estimate = statistic(all);
    const bool is_known = std::isfinite(estimate);
    if (is_known && rows > 1) {
      places.push_back(intervals.size());
      known.push_back(statistic);
    }
    const double edge = is_known ? estimate : not_known;
    intervals.push_back({edge, estimate, edge});
  }
  if (known.empty()) return intervals;
  const std::vector<std::vector<double>> sorted = resampled(rows, known, options);
  for (std::size_t k = 0; k < known.size(); ++k) {
    Interval& interval = intervals[places[k]];
    const LeftOut left_out = [&] { return leave_out(rows, known[k]); };
    interval = interval_of(left_out, interval.estimate, sorted[k], options);
  }
  return intervals;
}

Interval bootstrap(std::uint32_t rows, const Statistic& statistic,
                   const BootstrapOptions& options) {
  return bootstrap_all(rows, {&statistic, 1}, options)[0];
}

Interval bootstrap(std::uint32_t rows, const Statistic& statistic, const LeftOut& left_out,
                   const BootstrapOptions& options) {
  check_bootstrap(rows, options);
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  const double estimate = statistic(all);
  if (!std::isfinite(estimate)) return {not_known, estimate, not_known};
  if (rows == 1) return {estimate, estimate, estimate};
  return interval_of(left_out, estimate, resampled(rows, {&statistic, 1}, options)[0], options);
}

std::vector<double> means_without_each(std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0),
               others = static_cast<double>(values.size()) - 1;
  std::vector<double> means;
  for (const double value : values) means.push_back((sum - value) / others);
  return means;
}

Interval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options) {
  return bootstrap(
      static_cast<std::uint32_t>(values.size()),
      [&](std::span<const std::uint32_t> rows) {
        double sum = 0;
        for (const std::uint32_t row : rows) sum += values[row];
        return rows.empty() ? not_known : sum / static_cast<double>(rows.size());
      },
      [&] { return means_without_each(values); }, options);
}

}  // namespace lockstep
