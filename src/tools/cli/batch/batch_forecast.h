// Forecasts the time of a batch of a recipe that trains in the tool.
#pragma once

#include "tools/cli/batch/batch.h"
#include "tools/cli/direct.h"

#include <string>

namespace lockstep::cli {

// Returns a line of text. The times come from jobs of the same kind in the newest batch that has
// such jobs. With --measure they come from one job of each setting, trained into a temporary
// folder. Without either, the line says how to get them. CPU jobs that share cores take longer, so
// their times are scaled to jobs with cores of their own, and only as many jobs run at once as
// there are cores for. Times of jobs on GPUs are taken only from a batch with as many jobs at once.
// If settings need different cores or GPUs, the line says that the time is not known. Throws Error
// if a job for --measure cannot be trained.
std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs);

}  // namespace lockstep::cli
