// Short names of options on the commands that have a group of their own.
#pragma once

#include "plan/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// On `lockstep predict` and others a bare KEY means GROUP.KEY, where the recipe's table has that.
// Throws Error for a bare key that is no option either way, naming the nearest.
std::vector<std::string> with_group(const RunSetup& setup, const std::string& group,
                                    std::vector<std::string> assignments);

}  // namespace lockstep::cli
