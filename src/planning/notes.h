// The notes of a plan: how results differ from those of one device, which results stay the same,
// and warnings.
#pragma once

#include "planning/plan.h"

#include <string>
#include <vector>

namespace lockstep {

// plan: complete except for its notes. planning/batch/micro_batch adds the notes on the
// micro-batch. A note is one or two sentences without a full stop at the end.
std::vector<std::string> plan_notes(const Plan& plan, const TrainOptions& options);

// The part of plan_notes that concerns the optimizer.
std::vector<std::string> optimizer_notes(const Plan& plan, const TrainOptions& options);

// "the 3 rows of a step leave 1 place to padding"
std::string padding_words(const BatchPlan& batch);

}  // namespace lockstep
