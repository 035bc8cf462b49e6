// Makes the completion scripts of the shells. Each script asks `lockstep complete` for candidates
// at the cursor, and never evaluates the answer.
#pragma once

#include <string>

namespace lockstep::cli {

// program: path of the tool that the script calls.
std::string bash_completion(const std::string& program);
std::string zsh_completion(const std::string& program);
std::string fish_completion(const std::string& program);

}  // namespace lockstep::cli
