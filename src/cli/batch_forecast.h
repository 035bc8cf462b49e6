// How long the batch of a recipe that trains in the tool will take.
#pragma once

#include "cli/batch.h"
#include "cli/direct.h"

#include <string>

namespace lockstep::cli {

// A line: by jobs of the same kind in the newest batch of the folder of runs that has some, or with
// --measure by one job of each setting, which is trained into a folder that goes. Where neither
// tells, what would. Jobs that share cores take longer for it: times of jobs on the CPU are counted
// as on cores of their own, and no more of them advance at once than there are cores for. Jobs on
// GPUs are taken from a batch that had as many at once. Throws Error where that job cannot be
// trained.
std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs, const JobRoom& room);

}  // namespace lockstep::cli
