// Groups an update plan with the tables that the device reads to zero-fill gradients and update
// weights by this plan.
#pragma once

#include "training/plan/update_plan.h"
#include "training/plan/zero_fill.h"

#include <memory>

namespace lockstep {

class PreparedUpdate;

// The plan is immutable. Eager steps (steps without a graph) use the plan that GradientBuffers::use
// has set. A captured graph keeps the plan with which it was captured.
struct StepPlan {
  UpdatePlan update;
  std::shared_ptr<const ZeroFill> zeros;
  // The update of the weights, which Optimizer::prepare_plan makes; null if there is no optimizer.
  std::shared_ptr<const PreparedUpdate> weights;
};

}  // namespace lockstep
