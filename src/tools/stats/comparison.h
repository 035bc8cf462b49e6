// Compares two groups of measurements: the difference, its uncertainty and the conclusion.
// docs/design/report.md says which method is for what, and why.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/media/bootstrap.h"

namespace lockstep {

enum class Scale {
  ratio,      // of geometric means; for values above zero: seconds, bytes, joules
  difference  // of means; for values of any sign: accuracy, a loss, a share
};

// B compared with A. `estimate` of `interval` is the ratio B / A or the difference B - A.
struct Contrast {
  Scale scale = Scale::ratio;
  int count_a = 0, count_b = 0;   // finite values (for a ratio: above zero)
  double mean_a = 0, mean_b = 0;  // geometric with Scale::ratio; NaN without a value
  // low and high are NaN if there are too few values. If all values of each side are equal, low and
  // high equal the estimate.
  Interval interval;
  // Standard deviation of a value, or of its logarithm with Scale::ratio, pooled over both sides.
  // For paired values, the deviation of a pair's difference. NaN if nothing was repeated.
  double spread = 0;
  bool paired = false;
  std::string method;   // "Welch's t on logarithms", … for people
  std::string unknown;  // why there is no interval, or no estimate either; "" if there is one
};

// For groups measured separately; an interval needs at least two values on each side. Values that
// do not fit the scale (NaN, infinity, and 0 or less for a ratio) are left out. If none are left,
// `unknown` says how many there were. Throws Error for a confidence outside (0, 1).
Contrast contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                  double confidence = 0.95);

// For values measured in turn: a[i] and b[i] belong together. Throws Error if the lengths differ. A
// pair is left out if either value does not fit.
Contrast paired_contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                         double confidence = 0.95);

// The BCa interval (bootstrap), shown beside the interval of a contrast. It assumes no
// distribution, but needs many values. Nothing if either side has fewer than 20 fitting values
// (pairs, if paired). For groups measured separately, values of both groups are resampled.
constexpr int bootstrap_least = 20;
std::optional<Interval> bootstrap_contrast(Scale scale, std::span<const double> a,
                                           std::span<const double> b, bool paired,
                                           double confidence = 0.95);

// B compared with A. The caller decides whether `more` or `less` is good.
enum class FoundDifference { same, less, more, inconclusive };

// margin: relative with Scale::ratio (0.02: within [1 / 1.02, 1.02] is the same), in the values'
// own unit with Scale::difference. Throws Error unless it is above 0.
FoundDifference find(const Contrast& contrast, double margin);

// Half the interval's width on the scale where it is symmetric: that of logarithms with
// Scale::ratio. NaN if there is no interval.
double half_width(const Contrast& contrast);
double margin_width(Scale scale, double margin);  // the margin on that scale

// Roughly how many repeats on each side (pairs, if paired) would decide, if the observed difference
// is the true one. The half-width of the interval is then half the distance from the difference to
// zero or to the margin, whichever is larger. So the verdict is reached with a chance of 97 % (95 %
// for `same`, which has two edges to miss). Nothing if the spread is unknown; at least 2, at most
// 1,000,000.
constexpr int most_repeats = 1'000'000;
std::optional<int> repeats_needed(const Contrast& contrast, double margin,
                                  double confidence = 0.95);

// "about 12". For `most_repeats`, which may stand for any larger number: "more than 999,999".
std::string repeats_words(int repeats);

// The number of repeats after which the half-width (on the scale of half_width) is at most `half`,
// if values have this spread.
int repeats_for_width(double spread, double half, bool paired, double confidence = 0.95);

// The probability that the interval excludes 1 (for a difference: 0) if the true ratio (or
// difference) is `effect`. repeats: on each side (pairs). spread: of the values (if paired: of the
// pairs' ratios). 0 with fewer than two repeats.
double power(Scale scale, double effect, double spread, int repeats, bool paired,
             double confidence = 0.95);

}  // namespace lockstep
