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
  std::size_t line = 0;  // counted from 1; 0 for JSON
};

// Returns the entries in the order of the file. Throws Error with the file, and with the line of a
// syntax error. A file with the suffix .json is read as JSON, with the same meaning. A null in it
// becomes the text "none".
std::vector<TomlEntry> read_toml(const std::filesystem::path& path);

}  // namespace lockstep::detail
