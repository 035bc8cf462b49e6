#include "training/trainer/loop/dropped_step.h"

#include "core/base/check.h"
#include "planning/batch/micro_batch.h"

#include <utility>

namespace lockstep {

void DroppedSteps::hear(const StepResult& result) {
  if (first_) return;
  if (!result.dropped) not_finite_in_a_row_ = result.not_finite ? not_finite_in_a_row_ + 1 : 0;
  if (result.dropped || result.not_finite) first_ = result;
}

StepResult DroppedSteps::take() {
  LOCKSTEP_CHECK(first_.has_value());
  return *std::exchange(first_, std::nullopt);
}

std::optional<BatchPlan> DroppedSteps::smaller(const BatchPlan& batch) const {
  const std::int64_t micro = next_smaller_micro(batch);
  if (measure_only_ || options_.exact || micro == 0) return std::nullopt;
  return with_micro(batch, micro);
}

bool DroppedSteps::recomputes_now() {
  if (measure_only_ || options_.memory.recompute != Recompute::automatic) return false;
  return !std::exchange(recomputes_, true);
}

bool DroppedSteps::goes_on_without(bool in_weights) const {
  constexpr int most_in_a_row = 20;
  return options_.on_nan == OnNan::skip && !in_weights && not_finite_in_a_row_ < most_in_a_row &&
         !measure_only_;
}

}  // namespace lockstep
