// A TOML file as a flat list of keys and values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::detail {

struct TomlEntry {
  std::string key;       // tables joined with dots
  nlohmann::json value;  // never a table, except an empty one
  std::size_t line = 0;  // from 1
};

// In the order of the file. Throws Error naming the file and, for a fault in the text, its line.
std::vector<TomlEntry> read_toml(const std::filesystem::path& path);

}  // namespace lockstep::detail
