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

// Recognises a ResNet by the names and shapes of its parts, whatever stands before the names.
// Nothing: it is none, or has a depth that model.depth cannot have.
std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors);

// Throws Error if the user begins with weights of another ResNet. A file that cannot be read is
// reported where the weights are read.
void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model);

}  // namespace lockstep::fewshot
