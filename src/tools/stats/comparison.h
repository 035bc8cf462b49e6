// Compares two groups of measurements: the difference, its uncertainty and the conclusion.
// docs/design/report.md explains the choice of methods.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/media/bootstrap.h"

namespace lockstep {

enum class Scale {
  ratio,      // ratio of geometric means, for values above zero: seconds, bytes, joules
  difference  // difference of means, for values of any sign: accuracy, loss, a share
};

// The result of comparing B with A. interval.estimate is the ratio B / A or the difference B - A.
struct Contrast {
  Scale scale = Scale::ratio;
  int count_a = 0, count_b = 0;   // numbers of values that are finite and, for a ratio, above zero
  double mean_a = 0, mean_b = 0;  // geometric means with Scale::ratio; NaN without a value
  // low and high are NaN if there are too few values. If no side has values that differ, low and
  // high equal the estimate.
  Interval interval;
  // Standard deviation of the values, pooled over both sides. With Scale::ratio, it is the standard
  // deviation of the logarithms. For paired values, it is the standard deviation of the pairs'
  // differences. NaN if there is only one value on each side, or only one pair.
  double spread = 0;
  bool paired = false;
  std::string method;   // name of the method for people: "Welch's t on logarithms"
  std::string unknown;  // reason if there is no interval; "" if there is one
};

// Compares groups that were measured separately. An interval needs at least two values on each
// side. Values that do not fit the scale are left out: NaN, infinity, and for a ratio also 0 or
// less. If a side has no values left, `unknown` says how many it had. Throws Error for a confidence
// outside (0, 1).
Contrast contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                  double confidence = 0.95);

// Compares values that were measured in pairs: a[i] and b[i] belong together. A pair is left out if
// either value does not fit the scale. Throws Error if the lengths differ, or for a confidence
// outside (0, 1).
Contrast paired_contrast(Scale scale, std::span<const double> a, std::span<const double> b,
                         double confidence = 0.95);

// Returns the BCa bootstrap interval, which is shown next to the interval of a contrast. It assumes
// no distribution, but needs many values. Returns nothing if either side has fewer than 20 values
// that fit, or if there are fewer than 20 such pairs. For groups that were measured separately, the
// values of both groups are resampled.
constexpr int bootstrap_least = 20;
std::optional<Interval> bootstrap_contrast(Scale scale, std::span<const double> a,
                                           std::span<const double> b, bool paired,
                                           double confidence = 0.95);

// The conclusion about B compared with A. The caller decides whether `more` or `less` is good.
enum class FoundDifference { same, less, more, inconclusive };

// Returns `same` if the whole interval lies within the margin. Else returns `more` or `less` if the
// interval excludes equality, and `inconclusive` if not. margin: relative with Scale::ratio, so
// that 0.02 means [1 / 1.02, 1.02]. With Scale::difference, it is in the unit of the values. Throws
// Error unless the margin is above 0.
FoundDifference find(const Contrast& contrast, double margin);

// Returns half the width of the interval on the scale where it is symmetric. With Scale::ratio,
// that is the scale of logarithms. Returns NaN if there is no interval.
double half_width(const Contrast& contrast);
double margin_width(Scale scale, double margin);  // the margin on the scale of half_width

// Estimates how many repeats on each side, or how many pairs, would decide the comparison, if the
// observed difference is the true one. The difference has a distance from zero and a distance from
// the margin. With that number of repeats, the half-width of the interval is half the larger
// distance. The verdict is then reached with a chance of 97 %. For `same` it is 95 %, because the
// interval can miss two edges. The result is between 2 and 1,000,000. Returns nothing if the spread
// or the difference is unknown.
constexpr int most_repeats = 1'000'000;
std::optional<int> repeats_needed(const Contrast& contrast, double margin,
                                  double confidence = 0.95);

// Returns "about 12". For `most_repeats`, which may mean any larger number, returns "more than
// 999,999".
std::string repeats_words(int repeats);

// Returns the number of repeats after which the half-width is at most `half`, on the scale of
// half_width. spread: as in Contrast. The result is at most most_repeats.
int repeats_for_width(double spread, double half, bool paired, double confidence = 0.95);

// Returns the probability that the interval excludes equality if the true ratio or difference is
// `effect`. Equality is 1 for a ratio, and 0 for a difference. repeats: values on each side, or
// pairs. spread: as in Contrast. Returns 0 with fewer than two repeats.
double power(Scale scale, double effect, double spread, int repeats, bool paired,
             double confidence = 0.95);

}  // namespace lockstep
