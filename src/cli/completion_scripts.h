// Completion scripts: each asks `lockstep complete` for what may stand at the cursor, and evaluates
// nothing of the answer.
#pragma once

#include <string>

namespace lockstep::cli {

// program: the path of the tool that the script asks.
std::string bash_completion(const std::string& program);
std::string zsh_completion(const std::string& program);
std::string fish_completion(const std::string& program);

}  // namespace lockstep::cli
