// An update plan with what the device reads of it.
#pragma once

#include "planning/batch/update_plan.h"
#include "training/gradients/zero_fill.h"

#include <memory>

namespace lockstep {

class PreparedUpdate;  // training/update/optimizer_rule.h

// Immutable. Eager steps use one (GradientBuffers::use); a graph holds the one that it was captured
// with.
struct StepPlan {
  UpdatePlan update;
  ZeroFill zeros;
  std::shared_ptr<const PreparedUpdate> weights;  // by Optimizer::prepare_plan; null: no optimizer
};

}  // namespace lockstep
