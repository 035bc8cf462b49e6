// Explains a word that is typed as a command but is none.
#pragma once

#include "core/base/error.h"
#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Returns an Error that says what another program's command is called here, or else suggests the
// nearest command. Hidden commands are never suggested.
Error unknown_command(const std::vector<Command>& commands, const std::string& word);

}  // namespace lockstep::cli
