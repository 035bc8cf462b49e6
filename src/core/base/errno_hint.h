// Hints for errors in which the system refuses access to a file or folder.
#pragma once

#include <string>

namespace lockstep {

// The hint for an errno about a path. Empty if errno_text says enough.
std::string errno_hint(int error);

}  // namespace lockstep
