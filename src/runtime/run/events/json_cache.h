// A cache of small measurements in the folder that contains the runs. Each file is one JSON object.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

// Returns the object in the file, or an empty object if the file is missing or damaged. Throws
// Error if the file cannot be read.
nlohmann::json read_json_cache(const std::filesystem::path& file);

// Sets `key` to `value` in the file, and creates its folder if needed. Throws Error if the file
// cannot be read or written.
void remember_in_cache(const std::filesystem::path& file, const std::string& key,
                       nlohmann::json value);

}  // namespace lockstep
