// Recognises which ResNet the weights in a file belong to.
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

// Recognises a ResNet by the names and shapes of its tensors; the names may have any prefix.
// Returns nothing if there is no ResNet in `tensors`. Also returns nothing if its depth is not a
// value that model.depth allows.
std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors);

// Throws Error if the user gives init.from, and its weights belong to a ResNet with another depth
// or width than `model`. Checks nothing if the user chooses tensors by init.map or init.unexpected.
// A file that cannot be read is not an Error here, but later, when the weights are loaded.
void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model);

}  // namespace lockstep::fewshot
