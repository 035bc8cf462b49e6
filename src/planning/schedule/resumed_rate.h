// The change of the learning rate when a run resumes with another schedule or length.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>

namespace lockstep {

// A note for the plan of a run that continues after `step` finished steps: the rate before and
// after, and how to keep it. Empty if the rate stays within 2 %, and for a run that has not begun.
// before: the plan of its last start.
std::string resumed_rate_note(const Plan& before, const Plan& now, const TrainOptions& options,
                              std::int64_t step);

}  // namespace lockstep
