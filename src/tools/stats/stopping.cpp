#include "tools/stats/stopping.h"

#include <algorithm>
#include <cmath>

#include "core/base/philox.h"
#include "tools/stats/distributions.h"
#include "tools/stats/sample.h"

namespace lockstep {

bool b_runs_first(PairOrder order, std::uint64_t seed, int pair) {
  if (order == PairOrder::a_first) return false;
  Random random(seed, RandomStream::order, static_cast<std::uint64_t>(pair / 2), 0);
  const bool first_of_two = (random.next_u32() & 1U) != 0;
  return pair % 2 == 0 ? first_of_two : !first_of_two;
}

bool narrow_enough(const Contrast& contrast, const StoppingRule& rule) {
  const int pairs = contrast.count_a;
  if (pairs < rule.least_pairs || pairs % 2 != 0) return false;
  return half_width(contrast) <= narrow_share * margin_width(rule.scale, rule.margin);
}

double chance_to_find(double effect, const StoppingRule& rule) {
  check_confidence(rule.confidence);
  const double width = margin_width(rule.scale, rule.margin), half = narrow_share * width;
  const double shift = std::abs(rule.scale == Scale::ratio ? std::log(effect) : effect);
  const double error = half / normal_quantile((1 + rule.confidence) / 2);
  // The interval must exclude zero and reach beyond the margin.
  const double edge = std::max(half, width - half);
  return normal_below((shift - edge) / error) + normal_below((-shift - edge) / error);
}

}  // namespace lockstep
