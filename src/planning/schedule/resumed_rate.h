// The jump of the learning rate when a run resumes with another schedule or length.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>

namespace lockstep {

// The warning for a run that resumes after `step` finished steps: the rate before and after, and
// the options that keep the rate, if there are such options. before: the plan from before the run
// resumed. Empty if the rate changes by at most 2 %, or if the schedule of `before` would have made
// the same change. Also empty if the run has no finished steps, or has no steps left.
std::string resumed_rate_note(const Plan& before, const Plan& now, const TrainOptions& options,
                              std::int64_t step);

}  // namespace lockstep
