// Forecasts the time of a batch of a recipe that trains in the tool.
#pragma once

#include "tools/cli/batch/batch.h"
#include "tools/cli/direct.h"

#include <string>

namespace lockstep::cli {

// A line of text. The times come from jobs of the same kind in the newest batch that has some. With
// --measure they come from one job of each setting, trained into a temporary folder. Without
// either, the line says how to get them. Jobs that share cores take longer: times of CPU jobs are
// scaled to own cores, and only as many advance at once as there are cores for. Jobs on GPUs are
// taken from a batch with as many at once. It is not known where settings
// need different cores or GPUs. Throws Error if that job cannot be trained.
std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs);

}  // namespace lockstep::cli
