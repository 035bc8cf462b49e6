// Decides about a step that changed nothing: memory ran out in it, or it was not finite.
#pragma once

#include "planning/options/train_options.h"
#include "planning/plan.h"
#include "training/step/step_metrics.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// Decides alike on every rank. measure_only: of `lockstep bench`, which measures what was asked
// for.
class DroppedSteps {
 public:
  DroppedSteps(const TrainOptions& options, bool measure_only)
      : options_(options), measure_only_(measure_only) {}

  // Every step's numbers, in order.
  void hear(const StepResult& result);
  // The first step that changed nothing, until it is taken up.
  bool any() const { return first_.has_value(); }
  StepResult take();

  // The micro-batch with which the step is repeated after memory ran out; nothing: none is smaller,
  // or it must not change.
  std::optional<BatchPlan> smaller(const BatchPlan& batch) const;
  // Where none is smaller: whether the step is repeated with all blocks of the model computed again
  // in backward (memory.recompute = auto). True once.
  bool recomputes_now();
  // Whether training goes on without a step that was not finite. in_weights: they are not either.
  bool goes_on_without(bool in_weights) const;

 private:
  const TrainOptions& options_;
  bool measure_only_;
  std::optional<StepResult> first_;
  int not_finite_in_a_row_ = 0;
  bool recomputes_ = false;
};

}  // namespace lockstep
