// Small measurements remembered beside the runs: one JSON object per file.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

// Empty if the file is missing or damaged. Throws Error if it cannot be read.
nlohmann::json read_json_cache(const std::filesystem::path& file);

// Rewrites the file with `value` under `key`; creates its folder. Throws Error if it cannot.
void remember_in_cache(const std::filesystem::path& file, const std::string& key,
                       nlohmann::json value);

}  // namespace lockstep
