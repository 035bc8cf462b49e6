// What the recipe advises where a sample is too large for the memory: values that fit.
#pragma once

#include "plan/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Of Facts::smaller_sample, "a smaller episode (episode.size=512 instead of 1024, or …)": each
// option halved until the plan's micro-batch fits these devices by the recipe's estimate. Options
// of which no value does are left out; "": that is all of them. The setup is left as it was.
std::string sample_that_fits(RunSetup& setup, const std::vector<Device>& devices);

}  // namespace lockstep::cli
