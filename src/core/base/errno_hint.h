// Hints for errors in which the system refuses access to a file or a folder.
#pragma once

#include <string>

namespace lockstep {

// The hint for an errno about a path; "" if errno_text already says everything.
std::string errno_hint(int error);

}  // namespace lockstep
