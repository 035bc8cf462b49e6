// Reads a TOML file as a flat list of keys and values.
#include "core/config/read_toml.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/config/toml_tree.h"

namespace lockstep::detail {
namespace {

struct Flattener {
  const std::string path;
  std::vector<TomlEntry> entries{};

  nlohmann::json to_json(const TomlNode& node, std::size_t line) const {
    if (node.kind == TomlNode::Kind::table) return nlohmann::json::object();
    if (node.kind == TomlNode::Kind::time)
      throw Error(cat("a date or time cannot be an option's value (", path, ", line ", line, ")"),
                  "put it in quotes if a text is meant");
    if (node.kind != TomlNode::Kind::list) return node.value;
    nlohmann::json items = nlohmann::json::array();
    for (const TomlNode& item : node.items) items.push_back(to_json(item, line));
    return items;
  }

  void add(const std::string& key, const TomlNode& node) {
    if (!node.members.empty()) {
      for (const auto& [name, member] : node.members)
        add(key.empty() ? name : cat(key, ".", name), member);
    } else if (!key.empty()) {
      entries.push_back({key, to_json(node, node.line), node.line});
    }
  }
};

void add_json(const std::string& key, const nlohmann::ordered_json& value,
              std::vector<TomlEntry>& entries) {
  if (!value.is_object() || (value.empty() && !key.empty())) {
    entries.push_back({key, value.is_null() ? nlohmann::json("none") : nlohmann::json(value)});
    return;
  }
  for (const auto& [name, member] : value.items())
    add_json(key.empty() ? name : cat(key, ".", name), member, entries);
}

std::vector<TomlEntry> read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path, record_bytes);
  if (parse_json(text).is_discarded()) {
    const JsonFault fault = json_fault(text);
    const std::string before = text.substr(0, fault.offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Error(cat("cannot read ", path.string(), " as JSON: ", fault.reason, " in line ", line),
                "it is an object of names and values, such as {\"batch.global\": 64}");
  }
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error(cat("cannot read ", path.string(), ": it is no JSON object"),
                "it is an object of names and values, such as {\"batch.global\": 64}");
  std::vector<TomlEntry> entries;
  add_json("", json, entries);
  return entries;
}

// If the file has another format, the error also gets a hint on the format.
TomlNode read_tree(const std::filesystem::path& path) try {
  return read_toml_tree(path);
} catch (const Error& error) {
  if (path.extension() == ".toml" || !std::filesystem::is_regular_file(path)) throw;
  throw Error(error.what(),
              cat("write it as TOML, a line NAME = VALUE each, such as batch.global = 64, or type "
                  "NAME=VALUE on the command line; the names of other programs are translated in "
                  "both",
                  error.hint().empty() ? "" : cat("; ", error.hint())));
}

}  // namespace

std::vector<TomlEntry> read_toml(const std::filesystem::path& path) {
  if (path.extension() == ".json") return read_json(path);
  Flattener flattener{path.string()};
  flattener.add("", read_tree(path));
  std::stable_sort(flattener.entries.begin(), flattener.entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return std::move(flattener.entries);
}

}  // namespace lockstep::detail
