// Whether all ranks hold the same weights.
#pragma once

#include "training/distributed/process_group.h"
#include "training/parameters/parameter_storage.h"

#include <string>
#include <vector>

namespace lockstep {

struct WeightDifference {
  std::vector<int> ranks;  // that differ from most
  std::string parameter;   // the first that differs, frozen ones last
  bool found() const { return !ranks.empty(); }
};

// Compares the weights, bit for bit up to sums of its bits read as whole numbers.
// All ranks, between steps; waits for the device. Costs one pass over the weights where they agree.
WeightDifference compare_weights(const ParameterStorage& storage, ProcessGroup& group);

}  // namespace lockstep
