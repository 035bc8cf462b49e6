// How long the batch of a recipe that trains in the tool will take.
#pragma once

#include "cli/direct.h"

#include <string>

namespace lockstep::cli {

// A line: by jobs of the same kind in the newest batch of the folder of runs that has some, or with
// --measure by one job of each setting, which is trained into a folder that goes. Where neither
// tells, what would. at_once: jobs that run at the same time. Throws Error where that job cannot be
// trained.
std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs, int at_once);

}  // namespace lockstep::cli
