// The name of this machine.
#pragma once

#include <string>

namespace lockstep {

std::string host_name();  // "unknown host" where it has none

}  // namespace lockstep
