// A TOML file as a flat list of keys and values.
#include "config/read_toml.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/toml_tree.h"

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

}  // namespace

std::vector<TomlEntry> read_toml(const std::filesystem::path& path) {
  Flattener flattener{path.string()};
  flattener.add("", read_toml_tree(path));
  std::stable_sort(flattener.entries.begin(), flattener.entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return std::move(flattener.entries);
}

}  // namespace lockstep::detail
