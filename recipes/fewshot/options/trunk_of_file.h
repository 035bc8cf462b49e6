// Recognises the ResNet in a file of weights.
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

// Recognises a ResNet by the names and shapes of its parts, with any prefix. Nothing if it is no
// ResNet, or has a depth that model.depth cannot have.
std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors);

// Throws Error if the user's first weights are of another ResNet. A file that cannot be read is
// reported later, when the weights are read.
void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model);

}  // namespace lockstep::fewshot
