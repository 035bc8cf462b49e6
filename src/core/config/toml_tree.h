// A TOML file as a tree, in the order in which it is written.
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
  std::size_t line = 0;  // from 1
  nlohmann::json value;  // value of a text, a number or a boolean
  // The value of a text, or else as written in the file: "1e-3", "2022-01-01".
  std::string text;
  std::vector<TomlNode> items;                              // elements of a list
  std::vector<std::pair<std::string, TomlNode>> members{};  // entries of a table

  // The member of a table; null if there is none.
  const TomlNode* find(std::string_view name) const;
};

// The top table. Throws Error naming the file and, for a fault in the text, its line.
TomlNode read_toml_tree(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);

}  // namespace lockstep::detail
