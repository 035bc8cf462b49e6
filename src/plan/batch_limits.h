// What a new run must not begin with: a batch far beyond its data or its devices' memory.
#pragma once

#include "plan/plan.h"

namespace lockstep {

// Throws Error naming sizes that work. For runs that go on it is not asked: their batch is theirs.
void check_batch_limits(const Plan& plan, const TrainOptions& options);

}  // namespace lockstep
