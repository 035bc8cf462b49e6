// Removes likely secrets from commands. process_info() returns only such commands, so nothing
// shown, served or recorded holds more.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Hides the values of words that look like secrets: "--token=…", "--password …", "api_key=…", the
// word after "Bearer", logins in addresses, tokens of well-known services. Other words stay. The
// result is joined with spaces. Applying it twice changes nothing.
std::string without_secrets(std::vector<std::string> words);
std::string without_secrets(const std::string& command);

}  // namespace lockstep
