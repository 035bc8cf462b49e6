// How far apart two groups of measurements are, how sure that is, and what may be said of it.
// docs/design/report.md says which method is for what, and why.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "media/bootstrap.h"

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
  // low and high are NaN where there are too few values to tell. Where all values of each side are
  // equal, both are the estimate.
  Interval interval;
  // Sample deviation of one value (of its logarithm with Scale::ratio): pooled over both sides, or
  // that of a pair's difference. NaN where nothing was repeated.
  double spread = 0;
  bool paired = false;
  std::string method;   // "Welch's t on logarithms", … for people
  std::string unknown;  // why there is no interval, or no estimate either; "" where there is one
};

// Groups that were measured apart; two values on each side at least give an interval. Values that
// do not fit the scale (NaN, infinity, of a ratio 0 and below) are left out, and `unknown` says how
// many where nothing else is left. Throws Error for a confidence that is not in (0, 1).
Contrast contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                  double confidence = 0.95);

// Measured in turn: a[i] and b[i] belong together. Throws Error where the lengths differ. A pair of
// which one value does not fit is left out.
Contrast paired_contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                         double confidence = 0.95);

// The BCa interval, to be shown beside that of a contrast: it asks for no distribution, but needs
// many values. Nothing with fewer than 20 values that fit on either side (pairs, where paired). Of
// groups that were measured apart, the values of both are drawn together.
constexpr int bootstrap_least = 20;
std::optional<Interval> bootstrap_contrast(Scale scale, std::span<const double> a,
                                           std::span<const double> b, bool paired,
                                           double confidence = 0.95);

// What B is, against A. Which of `more` and `less` is good is the caller's business.
enum class FoundDifference { same, less, more, inconclusive };

// margin: relative with Scale::ratio (0.02: within [1 / 1.02, 1.02] is the same), in the values'
// own unit with Scale::difference. Above 0, else Error.
FoundDifference find(const Contrast& contrast, double margin);

// Of the scale on which the interval is symmetric: of logarithms with Scale::ratio. NaN where there
// is no interval.
double half_width(const Contrast& contrast);
double margin_width(Scale scale, double margin);  // the margin on that scale

// About how many repeats on each side (pairs, where paired) would decide, if the difference is as
// it was seen: the half-width of the interval is then half of what lies between the difference and
// zero or, where that is more, between it and the margin; so the verdict is reached with a chance
// of 97 % (of 95 % for `same`, with two edges to miss). Nothing where the spread is not known; at
// least 2, at most 1,000,000.
constexpr int most_repeats = 1'000'000;
std::optional<int> repeats_needed(const Contrast& contrast, double margin,
                                  double confidence = 0.95);

// "about 12"; of `most_repeats`, which may stand for any more, "more than 999,999".
std::string repeats_words(int repeats);

// Repeats until the half-width (on the scale of half_width) is down to `half`, at that spread.
int repeats_for_width(double spread, double half, bool paired, double confidence = 0.95);

// Chance that a true ratio (or difference) `effect` gives an interval without 1 (or 0), with
// `repeats` on each side (pairs) of that spread (where paired: that of the pairs' ratios). 0 with
// fewer than two repeats.
double power(Scale scale, double effect, double spread, int repeats, bool paired,
             double confidence = 0.95);

}  // namespace lockstep
