// The batch for each number of devices in a scaling table.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// strong: the global batch is the same on any number of devices. weak: the global batch grows with
// the number of devices, so that each device does the same work.
enum class Scaling { strong, weak };

struct ScalingBatch {
  std::int64_t global = 0, micro = 0, accumulation = 0;  // as batch.*; 0 = chosen by the plan
};

// counts: the numbers of devices, ascending. count: one of them. smallest: the batch that the
// options give on the first of these numbers. With strong scaling, a default global batch is
// rounded to one that is divisible by all counts. A global batch that the user gave is kept. Throws
// Error for strong scaling if batch.micro and batch.accumulation are given without a global batch,
// because the global batch would then grow.
ScalingBatch scaling_batch(Scaling scaling, const std::vector<int>& counts, int count,
                           const BatchPlan& smallest, const TrainOptions& options);

}  // namespace lockstep
