// Recognises which ResNet a file of weights has.
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

// Recognises a ResNet by the names and shapes of its tensors, with any prefix. Returns nothing if
// there is no ResNet, or if it has a depth that model.depth does not allow.
std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors);

// Throws Error if the user gives init.from, and these weights are of a ResNet with another depth or
// width. Checks nothing if the user chooses tensors by init.map or init.unexpected. A file that
// cannot be read is reported later, when the weights are read.
void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model);

}  // namespace lockstep::fewshot
