// The arguments of this program.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Value of "--name VALUE" in `arguments`, removed from them; empty if absent.
std::string take(std::vector<std::string>& arguments, const std::string& name);
bool take_flag(std::vector<std::string>& arguments, const std::string& name);

}  // namespace lockstep
