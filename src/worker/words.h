// Takes options out of the arguments of lockstep-worker.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Returns the value of "--name VALUE" in `arguments`, and removes both words. Returns "" if the
// option is absent.
std::string take(std::vector<std::string>& arguments, const std::string& name);
bool take_flag(std::vector<std::string>& arguments, const std::string& name);

}  // namespace lockstep
