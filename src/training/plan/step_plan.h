// Groups an update plan with the tables that the device reads to zero-fill and update by it.
#pragma once

#include "training/plan/update_plan.h"
#include "training/plan/zero_fill.h"

#include <memory>

namespace lockstep {

class PreparedUpdate;

// The plan is immutable. Eager steps use the plan that GradientBuffers::use has set. A captured
// graph keeps the plan with which it was captured.
struct StepPlan {
  UpdatePlan update;
  std::shared_ptr<const ZeroFill> zeros;
  // Made by Optimizer::prepare_plan; null if there is no optimizer.
  std::shared_ptr<const PreparedUpdate> weights;
};

}  // namespace lockstep
