// The plan of the steps of gradients without an optimizer, as TrainStep makes it.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <memory>
#include <utility>

namespace lockstep::testing {

inline void use_plan(GradientBuffers& gradients, UpdatePlan plan) {
  auto zeros = std::make_shared<ZeroFill>(gradients.storage(), plan);
  gradients.use(std::make_shared<StepPlan>(
      StepPlan{.update = std::move(plan), .zeros = std::move(zeros), .weights = nullptr}));
}

// After the backward passes of a whole step. reads_low_sums: norm and update do.
inline void plan_steps(GradientBuffers& gradients, bool reads_low_sums = false) {
  const ParameterStorage& storage = gradients.storage();
  use_plan(gradients,
           make_update_plan(gradients.observed(),
                            {.low_precision = storage.low_precision(),
                             .sharded = storage.sharing() != nullptr,
                             .reads_low_sums = reads_low_sums && gradients.sums().defined()}));
}

}  // namespace lockstep::testing
