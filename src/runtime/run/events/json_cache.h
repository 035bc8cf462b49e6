// A cache of small measurements in the folder of runs. Each file is one JSON object.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

// Empty if the file is missing or damaged. Throws Error if it cannot be read.
nlohmann::json read_json_cache(const std::filesystem::path& file);

// Rewrites the file with `value` under `key`, and creates its folder. Throws Error if that fails.
void remember_in_cache(const std::filesystem::path& file, const std::string& key,
                       nlohmann::json value);

}  // namespace lockstep
