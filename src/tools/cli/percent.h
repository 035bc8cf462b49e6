// Shares on the command line.
#pragma once

#include <string>

#include "tools/cli/arguments.h"

namespace lockstep::cli {

// Reads "2%" and "0.02" as 0.02. Throws Error, which names the flag, for other texts and for shares
// below `least`. Also throws for plain numbers from 1 on, which are probably meant as per cent.
double share_of(const Parsed& parsed, const std::string& flag, double otherwise, double least = 0);

}  // namespace lockstep::cli
