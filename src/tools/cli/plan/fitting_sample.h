// Finds option values with which a sample fits into the memory of a device.
#pragma once

#include "planning/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Returns the recipe's advice (Facts::smaller_sample) with values: "a smaller episode
// (episode.size=512 instead of 1024, or …)". Each option that the advice names is halved until the
// plan's micro-batch fits, according to the recipe's memory estimate. The device with the least
// memory decides. Options without a fitting value are left out. Returns "" if no option is left. If
// the advice names no option, returns the advice unchanged. After the call, setup has the same
// values as before.
std::string sample_that_fits(RunSetup& setup, const std::vector<Device>& devices);

}  // namespace lockstep::cli
