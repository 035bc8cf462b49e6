// Reads a TOML file as a tree, in the order of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files/files.h"

namespace lockstep::detail {

struct TomlNode {
  enum class Kind { table, list, text, integer, real, boolean, time };
  Kind kind = Kind::table;
  std::size_t line = 0;  // counted from 1
  nlohmann::json value;  // the value of a text, a number or a boolean
  // If it is a text: its value. If it is a number, boolean or time: its characters in the file,
  // "1e-3", "2022-01-01".
  std::string text;
  std::vector<TomlNode> items;                              // the elements of a list
  std::vector<std::pair<std::string, TomlNode>> members{};  // the entries of a table

  // Returns the member of a table with this name; null if there is none.
  const TomlNode* find(std::string_view name) const;
};

// Returns the top-level table. Throws Error if the file cannot be read, has more than `most_bytes`,
// or has a syntax error. The message names the file, and the line of the syntax error.
TomlNode read_toml_tree(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);

}  // namespace lockstep::detail
