// How far apart two groups of measurements are, how sure that is, and what may be said of it.
// docs/design/report.md says which method is for what, and why.
#pragma once

#include "media/bootstrap.h"

#include <optional>
#include <span>
#include <string>

namespace lockstep {

enum class Scale {
  ratio,      // of geometric means; for what is above zero: seconds, bytes, joules
  difference  // of means; for what may have any sign: accuracy, a loss, a share
};

// B against A. `estimate` of `interval` is the ratio B / A or the difference B - A.
struct Contrast {
  Scale scale = Scale::ratio;
  int count_a = 0, count_b = 0;   // values that are finite (of a ratio: above zero)
  double mean_a = 0, mean_b = 0;  // geometric with Scale::ratio; NaN without a value
  Interval interval;              // low and high are NaN where there are too few values to tell
  double spread = 0;  // sample deviation of one value: of its logarithm with Scale::ratio
  bool paired = false;
  std::string method;   // "Welch's t on logarithms", … for people
  std::string unknown;  // why there is no interval, or no estimate either; "" where there is one
};

// Groups that were measured apart; two values on each side at least give an interval. Values that
// do not fit the scale (NaN, infinity, of a ratio 0 and below) are left out, and `unknown` says how
// many where nothing else is left.
Contrast contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                  double confidence = 0.95);

// Measured in turn: a[i] and b[i] belong together. Throws Error where the lengths differ. A pair of
// which one value does not fit is left out.
Contrast paired_contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                         double confidence = 0.95);

// What B is, against A. Which of `more` and `less` is good is the caller's business.
enum class Finding { same, less, more, inconclusive };

// margin: relative with Scale::ratio (0.02: within [1 / 1.02, 1.02] is the same), in the values'
// own unit with Scale::difference. Above 0, else Error.
Finding find(const Contrast& contrast, double margin);

// About how many repeats on each side (pairs, where paired) would bring the half-width of the
// interval down to the margin or, where that is smaller, to half the difference that was seen.
// Nothing where the spread is not known; at most 1,000,000.
std::optional<int> repeats_needed(const Contrast& contrast, double margin,
                                  double confidence = 0.95);

// Chance that a true ratio (or difference) `effect` gives an interval without 1 (or 0), with
// `repeats` on each side (pairs) of that spread (where paired: that of the pairs' ratios).
double power(Scale scale, double effect, double spread, int repeats, bool paired,
             double confidence = 0.95);

}  // namespace lockstep
