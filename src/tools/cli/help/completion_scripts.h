// Completion scripts. Each asks `lockstep complete` for candidates at the cursor, and does not
// evaluate the answer.
#pragma once

#include <string>

namespace lockstep::cli {

// program: path of the tool that the script calls.
std::string bash_completion(const std::string& program);
std::string zsh_completion(const std::string& program);
std::string fish_completion(const std::string& program);

}  // namespace lockstep::cli
