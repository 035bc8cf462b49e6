// The arguments of this program.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Returns the value of "--name VALUE" in `arguments`, and removes both words. Empty if absent.
std::string take(std::vector<std::string>& arguments, const std::string& name);
bool take_flag(std::vector<std::string>& arguments, const std::string& name);

}  // namespace lockstep
