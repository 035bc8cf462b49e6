// Computes the number of repeats that a comparison needs, and the smallest difference that the
// present number can show.
#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"
#include "tools/stats/comparison.h"
#include "tools/stats/distributions.h"
#include "tools/stats/sample.h"

namespace lockstep {
namespace {

// The standard error of the difference, with equal numbers on both sides.
double error_of_shift(double spread, int repeats, bool paired) {
  return spread * std::sqrt((paired ? 1.0 : 2.0) / repeats);
}

double degrees_of(int repeats, bool paired) { return paired ? repeats - 1 : 2.0 * (repeats - 1); }

double half_with(double spread, int repeats, bool paired, double confidence) {
  return error_of_shift(spread, repeats, paired) *
         student_quantile((1 + confidence) / 2, degrees_of(repeats, paired));
}

}  // namespace

int repeats_for_width(double spread, double half, bool paired, double confidence) {
  check_confidence(confidence);
  if (!(spread > 0)) return 2;
  if (!(half_with(spread, most_repeats, paired, confidence) <= half)) return most_repeats;
  int below = 1, enough = most_repeats;  // below: too few repeats; enough: enough repeats
  while (enough - below > 1) {
    const int middle = below + (enough - below) / 2;
    (half_with(spread, middle, paired, confidence) <= half ? enough : below) = middle;
  }
  return enough;
}

std::optional<int> repeats_needed(const Contrast& contrast, double margin, double confidence) {
  const double width = margin_width(contrast.scale, margin);
  double seen = contrast.interval.estimate;
  if (contrast.scale == Scale::ratio) seen = std::log(seen);
  if (!std::isfinite(contrast.spread) || !std::isfinite(seen)) return std::nullopt;
  const double room = std::max(std::abs(seen), width - std::abs(seen));
  return repeats_for_width(contrast.spread, room / 2, contrast.paired, confidence);
}

std::string repeats_words(int repeats) {
  return repeats >= most_repeats ? "more than 999,999" : cat("about ", repeats);
}

double power(Scale scale, double effect, double spread, int repeats, bool paired,
             double confidence) {
  check_confidence(confidence);
  const double shift = std::abs(scale == Scale::ratio ? std::log(effect) : effect);
  if (repeats < 2 || !std::isfinite(shift) || !std::isfinite(spread)) return 0;
  if (!(spread > 0)) return shift > 0 ? 1 : 0;
  const double degrees = degrees_of(repeats, paired);
  const double limit = student_quantile((1 + confidence) / 2, degrees);
  return noncentral_t_beyond(limit, degrees, shift / error_of_shift(spread, repeats, paired));
}

}  // namespace lockstep
