// Completion scripts made from the command tables.
#pragma once

#include "cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);
std::string fish_completion(const std::vector<Command>& commands);

}  // namespace lockstep::cli
