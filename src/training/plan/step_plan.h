// An update plan, with the tables that the device reads for it.
#pragma once

#include "training/plan/update_plan.h"
#include "training/plan/zero_fill.h"

#include <memory>

namespace lockstep {

class PreparedUpdate;

// Immutable. Eager steps use one plan (GradientBuffers::use). A graph holds the plan that it was
// captured with.
struct StepPlan {
  UpdatePlan update;
  std::shared_ptr<const ZeroFill> zeros;
  std::shared_ptr<const PreparedUpdate> weights;  // made by Optimizer::prepare_plan; null: no
                                                  // optimizer
};

}  // namespace lockstep
