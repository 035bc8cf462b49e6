#include "runtime/run/curves/mean_step.h"

namespace lockstep {

void MeanStep::add(double steps, double seconds) {
  if (steps <= 0) return;
  if (first_steps_ == 0) {
    first_steps_ = steps;
    first_s_ = seconds;
    return;
  }
  steps_ += steps;
  sum_s_ += seconds;
}

std::optional<double> MeanStep::seconds() const {
  if (steps_ > 0) return sum_s_ / steps_;
  if (first_steps_ > 0) return first_s_ / first_steps_;
  return std::nullopt;
}

}  // namespace lockstep
