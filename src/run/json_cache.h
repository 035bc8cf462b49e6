// Small things that were measured and are remembered beside the runs: one JSON object a file.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

// Empty where there is no such file or it is damaged. Throws Error if it cannot be read.
nlohmann::json read_json_cache(const std::filesystem::path& file);

// Writes the file again with `value` under `key`; makes its folder. Throws Error if it cannot.
void remember_in_cache(const std::filesystem::path& file, const std::string& key,
                       nlohmann::json value);

}  // namespace lockstep
