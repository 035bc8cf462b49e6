// What to do where the system refuses a file or a folder.
#pragma once

#include <string>

namespace lockstep {

// The hint for what errno says of a path; "" where errno_text says all there is to say.
std::string errno_hint(int error);

}  // namespace lockstep
