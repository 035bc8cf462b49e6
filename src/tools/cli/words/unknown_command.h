// Explains a word that is typed as a command but is not a command.
#pragma once

#include "core/base/error.h"
#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Returns an Error about the word. If it is a command of another program, the error names
// Lockstep's command for it. If not, the error suggests the command with the nearest name, but
// never a hidden command.
Error unknown_command(const std::vector<Command>& commands, const std::string& word);

}  // namespace lockstep::cli
