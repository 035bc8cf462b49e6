// Checks whether all ranks hold the same weights.
#pragma once

#include "training/distributed/process_group.h"
#include "training/parameters/parameter_storage.h"

#include <string>
#include <vector>

namespace lockstep {

struct WeightDifference {
  std::vector<int> ranks;  // ranks whose weights differ from those of most ranks
  std::string parameter;   // the first parameter that differs; frozen parameters come last
  bool found() const { return !ranks.empty(); }
};

// Compares the weights by sums of their bits, read as integers. So only differences that leave
// these sums equal go unnoticed. All ranks call it, between steps. It waits for the device. If the
// weights agree, it costs one pass over them.
WeightDifference compare_weights(const ParameterStorage& storage, ProcessGroup& group);

}  // namespace lockstep
