// Reads a TOML or JSON file as a flat list of keys and values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::detail {

struct TomlEntry {
  std::string key;       // the names of the tables and of the entry, joined with dots
  nlohmann::json value;  // not a table, unless it is an empty table
  std::size_t line = 0;  // counted from 1; 0 for JSON
};

// Returns the entries in the order of the file. A file with the suffix .json is read as JSON, and
// its objects count as tables. A null in JSON becomes the text "none". Throws Error if the file
// cannot be read or has a syntax error. The message names the file, and the line of the syntax
// error.
std::vector<TomlEntry> read_toml(const std::filesystem::path& path);

}  // namespace lockstep::detail
