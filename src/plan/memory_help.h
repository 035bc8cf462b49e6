// What to say when not even the smallest micro-batch fits.
#pragma once

#include "plan/plan.h"
#include "plan/train_options.h"

#include <string>

namespace lockstep {

// What `micro` samples need on a rank by the plan's estimate, of what; and which options would need
// how much less. smaller_sample: the recipe's own advice, or "".
std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample);

}  // namespace lockstep
