// The batch that each number of devices trains on in a scaling table.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// strong: the same global batch on any number of devices. weak: the global batch grows with the
// devices, so that each device does the same work.
enum class Scaling { strong, weak };

struct ScalingBatch {
  std::int64_t global = 0, micro = 0, accumulation = 0;  // as batch.…; 0 = found by the plan
};

// counts: the numbers of devices, rising. smallest: the batch that the options give on the first of
// them. A default global batch is rounded to one that divides into all counts; one that was given
// is kept as it is. Throws Error if batch.micro and batch.accumulation are both given without a
// global batch, although the global batch must stay the same.
ScalingBatch scaling_batch(Scaling scaling, const std::vector<int>& counts, int count,
                           const BatchPlan& smallest, const TrainOptions& options);

}  // namespace lockstep
