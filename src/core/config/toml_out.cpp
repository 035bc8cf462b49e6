// Writes all options as a commented TOML file.
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "core/config/options.h"
#include "core/config/parse.h"
#include "core/config/tables.h"
#include "core/config/value.h"

namespace lockstep {
namespace {

using nlohmann::json;

// A basic string of TOML. Escapes are the same as in JSON, and DEL is escaped too.
std::string toml_string(const std::string& text) {
  std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t at = 0; (at = quoted.find('\x7f', at)) != quoted.npos;)
    quoted.replace(at, 1, "\\u007f");
  return quoted;
}

std::string toml_value(OptionType type, const json& value) {
  if (type == OptionType::duration) return toml_string(detail::value_text(type, value));
  if (value.is_string()) return toml_string(value.get<std::string>());
  if (!value.is_array()) return detail::value_text(type, value);
  std::vector<std::string> items;
  for (const json& item : value) items.push_back(toml_string(item.get<std::string>()));
  return cat("[", join(items, ", "), "]");
}

// Replaces control characters by "?", so that the comment stays one line. A path may contain any
// character.
std::string toml_comment(const std::string& text) {
  std::string line = text;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return line;
}

std::string option_lines(const detail::OptionGroup& group,
                         const detail::OptionGroup::Member& member, const json& value) {
  const OptionInfo& option = member.info;
  const std::string name =
      group.name.empty() ? option.key : option.key.substr(group.name.size() + 1);
  const std::string note = detail::source_note(member);
  return cat("# ", detail::summary(option), "\n",
             note.empty() ? "" : cat("# ", toml_comment(note), "\n"),
             member.table->is_set(option.key) ? "" : "# ", name, " = ",
             toml_value(option.type, value), "\n");
}

}  // namespace

std::string to_toml(std::span<OptionTable* const> tables) {
  const detail::Tables all(tables);
  json record = json::object();
  for (const OptionTable* table : tables) record.update(table->to_json());
  std::string text =
      "# An option that is commented out has its default value; take away the # to set it.\n";
  for (const Preset& preset : all.presets())
    text += cat("# preset ", preset.name, ": ", preset.meaning, "\n");
  for (const detail::OptionGroup& group : all.groups()) {
    if (!group.name.empty()) text += cat("\n[", group.name, "]");
    text += "\n";
    for (const auto& member : group.members)
      text += option_lines(group, member, record.at(member.info.key));
  }
  return text;
}

}  // namespace lockstep
