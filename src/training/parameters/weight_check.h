// Checks whether all ranks hold the same weights.
#pragma once

#include "training/distributed/process_group.h"
#include "training/parameters/parameter_storage.h"

#include <string>
#include <vector>

namespace lockstep {

struct WeightDifference {
  // Ranks whose weights differ from the weights of most ranks; in a tie, from the weights of rank
  // 0.
  std::vector<int> ranks;
  std::string parameter;  // the first parameter that differs; trained parameters are compared first
  bool found() const { return !ranks.empty(); }
};

// Compares the weights of all ranks. It compares sums of the weights' bits, which are read as
// integers. A difference that does not change the sum is not found. All ranks call it, between
// steps. The function waits for the device. If the weights are equal, each weight is read once.
WeightDifference compare_weights(const ParameterStorage& storage, ProcessGroup& group);

}  // namespace lockstep
