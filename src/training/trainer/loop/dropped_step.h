// Decides how training continues after a step that changed nothing. A step changes nothing if
// memory ran out or if a value was not finite.
#pragma once

#include "planning/options/train_options.h"
#include "planning/plan.h"
#include "training/step/step_metrics.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// All decisions are the same on every rank. measure_only: true in `lockstep bench`, which must
// measure exactly the given options.
class DroppedSteps {
 public:
  DroppedSteps(const TrainOptions& options, bool measure_only)
      : options_(options), measure_only_(measure_only) {}

  // Records the result of a step. Call it for every step, in order.
  void hear(const StepResult& result);
  // any() says whether a recorded step changed nothing. take() returns the first such step, and
  // forgets it.
  bool any() const { return first_.has_value(); }
  StepResult take();

  // Returns the batch with the next smaller micro-batch, with which the step is repeated after
  // memory ran out. Returns nothing if no smaller micro-batch is possible. Also returns nothing in
  // exact mode (option exact) and if measure_only is true, because the micro-batch must not change.
  std::optional<BatchPlan> smaller(const BatchPlan& batch) const;
  // Returns whether to repeat the step with all blocks of the model recomputed in backward. The
  // first call returns true if memory.recompute is auto and measure_only is false. Later calls
  // return false. Call the function if `smaller` returned nothing.
  bool recomputes_now();
  // Returns whether training continues after a step that was not finite. It continues if on_nan is
  // skip, measure_only is false, and fewer than 20 steps in a row were not finite. If in_weights is
  // true, the weights are not finite, and training cannot continue.
  bool goes_on_without(bool in_weights) const;

 private:
  const TrainOptions& options_;
  bool measure_only_;
  std::optional<StepResult> first_;
  int not_finite_in_a_row_ = 0;
  bool recomputes_ = false;
};

}  // namespace lockstep
