// Removes probable secrets from commands. process_info() returns only commands without secrets. So
// no secret in a command is shown, served or recorded.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Replaces values that look like secrets. These are values of "--token=…", "--password …" and
// "api_key=…", the word after "Bearer", logins in addresses, and tokens of well-known services. All
// other words stay. Returns the words joined with spaces. A second call with the result changes
// nothing.
std::string without_secrets(std::vector<std::string> words);
std::string without_secrets(const std::string& command);

}  // namespace lockstep
