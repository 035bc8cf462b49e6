// JSON as the files of recipes hold it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Indented by one space, with a line's end; bad UTF-8 is replaced.
std::string json_file_text(const nlohmann::json& value);

}  // namespace lockstep
