// Hints for errors of the system when a file or folder is accessed.
#pragma once

#include <string>

namespace lockstep {

// Returns a hint for an errno of such an access. Empty if errno_text is clear enough.
std::string errno_hint(int error);

}  // namespace lockstep
