// Reads options from the arguments of lockstep-worker, and removes them.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Returns the value after the option `name`, and removes both from `arguments`. Returns "" if the
// option is absent. name: with its dashes, "--run".
std::string take(std::vector<std::string>& arguments, const std::string& name);
// Returns whether `arguments` contains the option `name`, and removes it.
bool take_flag(std::vector<std::string>& arguments, const std::string& name);

}  // namespace lockstep
