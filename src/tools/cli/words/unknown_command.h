// A word in place of a command that is none.
#pragma once

#include "core/base/error.h"
#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Names what other programs' word for a command means here, else the nearest command; hidden
// commands are never proposed.
Error unknown_command(const std::vector<Command>& commands, const std::string& word);

}  // namespace lockstep::cli
