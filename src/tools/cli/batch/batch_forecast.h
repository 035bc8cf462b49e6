// Forecasts the time of a batch of a recipe that trains in the tool itself, without the engine.
#pragma once

#include "tools/cli/batch/batch.h"
#include "tools/cli/direct.h"

#include <string>

namespace lockstep::cli {

// Returns a line of text with the forecast, or with the reason why there is none. The time of a job
// is taken from jobs of the same kind, in the newest batch that has such jobs. With --measure, one
// job of each setting (DirectSetting) is trained into a temporary folder, for ten settings at most.
// CPU jobs that share cores take longer. So the times of such jobs are converted to jobs with cores
// of their own. The forecast then counts only as many concurrent jobs as there are cores for. For
// jobs on GPUs, only batches with the same number of concurrent jobs are used. There is no forecast
// if settings need different numbers of cores or GPUs, or if the jobs cannot run here. Throws Error
// if a job for --measure cannot be trained.
std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs);

}  // namespace lockstep::cli
