#include "tools/stats/trial_checks.h"

#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "tools/stats/sample.h"

namespace lockstep {
namespace {

std::optional<double> if_real(const Contrast& contrast, double margin) {
  const Interval& ratio = contrast.interval;
  const bool leaves_one = ratio.low > 1 || ratio.high < 1;
  const bool is_large = std::abs(std::log(ratio.estimate)) > std::log1p(margin);
  return leaves_one && is_large ? std::optional(ratio.estimate) : std::nullopt;
}

std::optional<double> drift(std::span<const double> a, std::span<const double> b, double margin) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < a.size(); ++i) levels.push_back(std::sqrt(a[i] * b[i]));
  const std::span<const double> all(levels);
  const std::size_t half = levels.size() / 2;
  return if_real(contrast(Scale::ratio, all.first(half), all.subspan(half)), margin);
}

std::optional<double> second_place(std::span<const double> a, std::span<const double> b,
                                   std::span<const char> b_first, double margin) {
  std::vector<double> first, second;
  std::size_t times_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool swapped = b_first[i] != 0;
    times_b += swapped ? 1 : 0;
    first.push_back(swapped ? b[i] : a[i]);
    second.push_back(swapped ? a[i] : b[i]);
  }
  // If A and B did not run first equally often, the effects of order and command cannot be
  // separated.
  if (times_b * 2 != a.size()) return std::nullopt;
  return if_real(paired_contrast(Scale::ratio, first, second), margin);
}

}  // namespace

TrialChecks check_trial(std::span<const double> a, std::span<const double> b,
                        std::span<const char> b_first, double margin) {
  LOCKSTEP_CHECK(a.size() == b.size() && a.size() == b_first.size());
  TrialChecks checks;
  constexpr std::size_t least = 10;
  constexpr double far_more = 3;
  if (a.size() < least) return checks;
  checks.drift = drift(a, b, margin);
  checks.second_place = second_place(a, b, b_first, margin);
  const double of_a = std::sqrt(Sample(Scale::ratio, a).variance);
  const double of_b = std::sqrt(Sample(Scale::ratio, b).variance);
  if (of_a > far_more * of_b || of_b > far_more * of_a) {
    checks.spread_a = of_a;
    checks.spread_b = of_b;
  }
  return checks;
}

}  // namespace lockstep
