// A TOML or JSON file as a flat list of keys and values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::detail {

struct TomlEntry {
  std::string key;       // tables joined with dots
  nlohmann::json value;  // never a table, except an empty one
  std::size_t line = 0;  // from 1; 0 for JSON
};

// Returns the entries in the order of the file. Throws Error naming the file and, for a fault in
// the text, its line. A file that ends in .json is read as JSON, with the same meaning; null
// becomes the text "none".
std::vector<TomlEntry> read_toml(const std::filesystem::path& path);

}  // namespace lockstep::detail
