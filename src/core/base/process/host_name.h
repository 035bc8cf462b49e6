// The name of this machine.
#pragma once

#include <string>

namespace lockstep {

std::string host_name();  // "unknown host" if it has none

}  // namespace lockstep
