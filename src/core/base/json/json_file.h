// The form of the JSON files that recipes write.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Indented by one space, ending with a newline; invalid UTF-8 is replaced.
std::string json_file_text(const nlohmann::json& value);

}  // namespace lockstep
