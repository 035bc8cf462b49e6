// Decides what follows a step that changed nothing, because memory ran out or because it was not
// finite.
#pragma once

#include "planning/options/train_options.h"
#include "planning/plan.h"
#include "training/step/step_metrics.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// Decides in the same way on every rank. measure_only: set by `lockstep bench`, which measures
// exactly the options that were given.
class DroppedSteps {
 public:
  DroppedSteps(const TrainOptions& options, bool measure_only)
      : options_(options), measure_only_(measure_only) {}

  // Takes the result of every step, in order.
  void hear(const StepResult& result);
  // Whether there is a step that changed nothing. `take` returns the first such step, and forgets
  // it.
  bool any() const { return first_.has_value(); }
  StepResult take();

  // Returns the batch for repeating the step after memory ran out, with a smaller micro-batch.
  // Nothing: no smaller micro-batch is possible, or it must not change.
  std::optional<BatchPlan> smaller(const BatchPlan& batch) const;
  // Call it if no smaller micro-batch is possible. Returns whether the step is repeated with all
  // blocks of the model computed again in backward (memory.recompute = auto). Returns true only
  // once.
  bool recomputes_now();
  // Whether training continues without a step that was not finite. in_weights: the weights are not
  // finite either.
  bool goes_on_without(bool in_weights) const;

 private:
  const TrainOptions& options_;
  bool measure_only_;
  std::optional<StepResult> first_;
  int not_finite_in_a_row_ = 0;
  bool recomputes_ = false;
};

}  // namespace lockstep
