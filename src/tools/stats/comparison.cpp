#include "tools/stats/comparison.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/stats/distributions.h"
#include "tools/stats/sample.h"

namespace lockstep {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

std::string method_of(Scale scale, bool paired) {
  return cat(paired ? "paired t" : "Welch's t", scale == Scale::ratio ? " on logarithms" : "");
}

// The interval `shift` plus or minus `half`, which are on the scale of `Sample`.
Interval around(Scale scale, double shift, double half) {
  if (scale == Scale::difference) return {shift - half, shift, shift + half};
  return {std::exp(shift - half), std::exp(shift), std::exp(shift + half)};
}

std::string why_nothing(Scale scale, char side, std::size_t given) {
  if (given == 0) return cat(side, " has no value");
  return cat("none of the ", given, given == 1 ? " value of " : " values of ", side,
             scale == Scale::ratio ? " is a finite number above zero" : " is a finite number");
}

// The standard error of a difference of means, and its degrees of freedom (Welch 1947,
// Satterthwaite).
std::pair<double, double> welch(const Sample& a, const Sample& b) {
  const double of_a = a.variance / a.count, of_b = b.variance / b.count, both = of_a + of_b;
  if (!(both > 0)) return {0, 1};
  const double share = of_a / both, rest = of_b / both;
  const double degrees = 1 / (share * share / (a.count - 1) + rest * rest / (b.count - 1));
  return {std::sqrt(both), degrees};
}

// The contrast of both sides without an interval.
Contrast sides(Scale scale, const Sample& a, const Sample& b, bool paired) {
  Contrast found;
  found.scale = scale;
  found.count_a = a.count;
  found.count_b = b.count;
  found.mean_a = a.mean_value(scale);
  found.mean_b = b.mean_value(scale);
  found.paired = paired;
  found.method = method_of(scale, paired);
  found.spread = not_known;
  found.interval = {not_known, not_known, not_known};
  return found;
}

double half_of(double error, double degrees, double confidence) {
  return error > 0 ? error * student_quantile((1 + confidence) / 2, degrees) : 0;
}

}  // namespace

Contrast contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                  double confidence) {
  check_confidence(confidence);
  const Sample of_a(scale, fitting(scale, a)), of_b(scale, fitting(scale, b));
  Contrast found = sides(scale, of_a, of_b, false);
  if (of_a.count == 0 || of_b.count == 0) {
    found.unknown =
        of_a.count == 0 ? why_nothing(scale, 'A', a.size()) : why_nothing(scale, 'B', b.size());
    return found;
  }
  const double shift = of_b.mean - of_a.mean;
  found.interval = around(scale, shift, not_known);
  if (of_a.count == 1 || of_b.count == 1) {
    found.unknown = cat("an interval needs two values on each side, but there are ", of_a.count,
                        " and ", of_b.count);
    // If only one side has a spread, it is used to estimate the number of values needed.
    if (of_a.count > 1 || of_b.count > 1)
      found.spread = std::sqrt(of_a.count > 1 ? of_a.variance : of_b.variance);
    return found;
  }
  const auto [error, degrees] = welch(of_a, of_b);
  found.interval = around(scale, shift, half_of(error, degrees, confidence));
  found.spread = std::sqrt((of_a.variance + of_b.variance) / 2);
  return found;
}

Contrast paired_contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                         double confidence) {
  check_confidence(confidence);
  const auto [kept_a, kept_b] = fitting_pairs(scale, a, b);
  const Sample of_a(scale, kept_a), of_b(scale, kept_b);
  Contrast found = sides(scale, of_a, of_b, true);
  if (of_a.count == 0) {
    found.unknown = a.empty() ? "there is no pair"
                              : cat("none of the ", a.size(), a.size() == 1 ? " pair" : " pairs",
                                    scale == Scale::ratio ? " has two finite numbers above zero"
                                                          : " has two finite numbers");
    return found;
  }
  const Sample shifts(Scale::difference, shifts_of(scale, kept_a, kept_b));
  found.interval = around(scale, shifts.mean, not_known);
  if (shifts.count == 1) {
    found.unknown = "an interval needs two pairs, but there is one";
    return found;
  }
  const double error = std::sqrt(shifts.variance / shifts.count);
  found.interval = around(scale, shifts.mean, half_of(error, shifts.count - 1, confidence));
  found.spread = std::sqrt(shifts.variance);
  return found;
}

double margin_width(Scale scale, double margin) {
  if (!(margin > 0) || !std::isfinite(margin))
    throw Error(cat("a margin must be above 0, but is ", margin), "2% (0.02) is usual");
  return scale == Scale::ratio ? std::log1p(margin) : margin;
}

double half_width(const Contrast& contrast) {
  const Interval& interval = contrast.interval;
  return contrast.scale == Scale::ratio ? std::log(interval.high / interval.low) / 2
                                        : (interval.high - interval.low) / 2;
}

FoundDifference find(const Contrast& contrast, double margin) {
  const double width = margin_width(contrast.scale, margin);
  const bool is_ratio = contrast.scale == Scale::ratio;
  const double low = is_ratio ? std::log(contrast.interval.low) : contrast.interval.low;
  const double high = is_ratio ? std::log(contrast.interval.high) : contrast.interval.high;
  if (std::isnan(low) || std::isnan(high)) return FoundDifference::inconclusive;
  if (low >= -width && high <= width) return FoundDifference::same;
  if (low > 0) return FoundDifference::more;
  if (high < 0) return FoundDifference::less;
  return FoundDifference::inconclusive;
}

}  // namespace lockstep
