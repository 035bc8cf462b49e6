// The format of the JSON files that recipes write.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Returns the value as text, indented by one space per level, with a newline at the end. Invalid
// UTF-8 is replaced.
std::string json_file_text(const nlohmann::json& value);

}  // namespace lockstep
