// Returns the name of this machine.
#pragma once

#include <string>

namespace lockstep {

std::string host_name();  // "unknown host" if the machine has no name

}  // namespace lockstep
