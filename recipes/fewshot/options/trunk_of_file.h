// Which ResNet a file of weights holds.
#pragma once

#include "planning/options/train_options.h"
#include "runtime/run/checkpoint/weight_source.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep::fewshot {

struct TrunkOfFile {
  std::int64_t depth = 0, width = 0;
};

// By the names and shapes of a ResNet's parts, whatever stands before them. Nothing: it is none, or
// of a depth that model.depth cannot be.
std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors);

// Throws Error if the user begins with weights of another ResNet. A file that cannot be read is
// reported where the weights are read.
void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model);

}  // namespace lockstep::fewshot
