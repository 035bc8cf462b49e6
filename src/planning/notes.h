// The notes of a plan, in words: how it differs from one device, what stays the same, and what
// looks wrong.
#pragma once

#include "planning/plan.h"

#include <string>
#include <vector>

namespace lockstep {

// plan: complete except for its notes. The notes on the micro-batch are in
// planning/batch/micro_batch. Each note is a sentence or two without a full stop at the end.
std::vector<std::string> plan_notes(const Plan& plan, const TrainOptions& options);

// The part of plan_notes about the optimizer.
std::vector<std::string> optimizer_notes(const Plan& plan, const TrainOptions& options);

// "the 3 rows of a step leave 1 place to padding"
std::string padding_words(const BatchPlan& batch);

}  // namespace lockstep
