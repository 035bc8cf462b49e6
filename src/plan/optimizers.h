// The facts about update rules that the plan and checkpoints need.
#pragma once

#include "plan/train_options.h"

#include <string>
#include <vector>

namespace lockstep {

// The f32 tensors that the chosen rule keeps for each parameter, of its shape, by the names that
// checkpoints give them ("exp_avg.NAME"). Its update is a class of engine/optimizer_rule.h.
std::vector<std::string> optimizer_states(const TrainOptions& options);

}  // namespace lockstep
