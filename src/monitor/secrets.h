// Commands without what looks like a secret in them. process_info() shows no others, so that
// nothing that is shown, served or recorded holds more.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Words that look like secrets lose their value: "--token=…", "--password …", "api_key=…", what
// follows "Bearer", logins in addresses, tokens of well-known services. What does not look like one
// stays. Joined with spaces; twice is as once.
std::string without_secrets(std::vector<std::string> words);
std::string without_secrets(const std::string& command);

}  // namespace lockstep
