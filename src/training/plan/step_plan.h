// An update plan with what the device reads of it.
#pragma once

#include "training/plan/update_plan.h"
#include "training/plan/zero_fill.h"

#include <memory>

namespace lockstep {

class PreparedUpdate;

// Immutable. Eager steps use one (GradientBuffers::use); a graph holds the one that it was captured
// with.
struct StepPlan {
  UpdatePlan update;
  std::shared_ptr<const ZeroFill> zeros;
  std::shared_ptr<const PreparedUpdate> weights;  // by Optimizer::prepare_plan; null: no optimizer
};

}  // namespace lockstep
