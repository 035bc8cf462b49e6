#include "runtime/run/curves/loss_range.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

std::optional<LossRange::Range> LossRange::add(double loss) {
  if (!std::isfinite(loss)) return std::nullopt;
  std::optional<Range> spike;
  if (losses_.size() == window_) {
    const auto [low, high] = std::minmax_element(losses_.begin(), losses_.end());
    const Range usual{*low, *high};
    // Losses that are all alike have no width. At least 1 % of the loss is used, so that a small
    // change is no spike.
    const double width = std::max(usual.high - usual.low, 1e-2 * std::fabs(usual.high));
    const bool far = loss > usual.high + 2 * width;
    if (far && spike_ == 0) spike = usual;
    spike_ = far && spike_ < window_ ? spike_ + 1 : 0;
    // Losses of a spike do not widen the usual range.
    if (spike_ > 0) return spike;
    losses_.pop_front();
  }
  losses_.push_back(loss);
  return spike;
}

}  // namespace lockstep
