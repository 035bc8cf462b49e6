// The recipe's advice if a sample is too large for the memory: option values with which it fits.
#pragma once

#include "planning/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Returns text from Facts::smaller_sample, "a smaller episode (episode.size=512 instead of 1024, or
// …)". Each option is halved until the plan's micro-batch fits these devices by the recipe's
// estimate. Options without a fitting value are left out; "" if none are left. The setup stays
// unchanged.
std::string sample_that_fits(RunSetup& setup, const std::vector<Device>& devices);

}  // namespace lockstep::cli
