// Parses shares, such as 2%, on the command line.
#pragma once

#include <string>

#include "tools/cli/arguments.h"

namespace lockstep::cli {

// Returns the value of a flag as a share: 0.02 for "2%" and for "0.02". Returns `otherwise` if the
// flag is absent. Throws Error, which names the flag, for other texts and for shares below `least`.
// Also throws Error for plain numbers from 1 on, which probably mean per cent.
double share_of(const Parsed& parsed, const std::string& flag, double otherwise, double least = 0);

}  // namespace lockstep::cli
