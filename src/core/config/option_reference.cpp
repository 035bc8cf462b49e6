// Prints option tables as Markdown for the reference page and as JSON for programs.
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "core/config/option_help.h"
#include "core/config/tables.h"
#include "core/config/value.h"

namespace lockstep {
namespace {

using nlohmann::json;

// The text of a table cell, in which bars are escaped.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string code(const std::string& text) { return text.empty() ? "" : cat("`", cell(text), "`"); }

std::string range_cell(const OptionInfo& option) {
  if (option.spec.choices.empty()) return cell(detail::range_text(option));
  std::vector<std::string> words;
  for (const std::string& choice : option.spec.choices) words.push_back(code(choice));
  return join(words, ", ");
}

std::string markdown_row(const OptionInfo& option) {
  return cat("| ", code(option.key), " | ", to_string(option.type), " | ",
             option.default_text.empty() ? "empty" : code(option.default_text), " | ",
             cell(option.spec.unit), " | ", range_cell(option), " | ", cell(option.spec.meaning),
             " |\n");
}

std::string preset_row(const Preset& preset) {
  std::vector<std::string> values;
  for (const auto& [key, value] : preset.values) values.push_back(code(cat(key, "=", value)));
  return cat("| ", code(preset.name), " | ", cell(preset.meaning), " | ", join(values, " "),
             " |\n");
}

json option_entry(const detail::OptionGroup::Member& member, const json& value) {
  const OptionInfo& option = member.info;
  json entry = {{"key", option.key},
                {"type", to_string(option.type)},
                {"default", detail::parse_value(option, option.default_text)},
                {"value", value},
                {"source", to_string(option.source.kind)},
                {"where", option.source.where},
                {"meaning", option.spec.meaning},
                {"unit", option.spec.unit},
                {"min", detail::bound(option, detail::lowest(option))},
                {"max", detail::bound(option, option.spec.max)},
                {"choices", option.spec.choices}};
  if (option.spec.is_path) entry.update({{"is_path", true}, {"no_paths", option.spec.no_paths}});
  return entry;
}

}  // namespace

std::string options_markdown(std::span<OptionTable* const> tables) {
  const detail::Tables all(tables);
  std::string text;
  for (const detail::OptionGroup& group : all.groups()) {
    text += cat(text.empty() ? "" : "\n", "## ", group.name.empty() ? "General" : group.name,
                "\n\n| option | type | default | unit | range | meaning |\n"
                "|---|---|---|---|---|---|\n");
    for (const auto& member : group.members) text += markdown_row(member.info);
  }
  const std::vector<Preset> presets = all.presets();
  if (presets.empty()) return text;
  text +=
      cat(text.empty() ? "" : "\n", "## Presets\n\n| preset | meaning | sets |\n|---|---|---|\n");
  for (const Preset& preset : presets) text += preset_row(preset);
  return text;
}

json options_json(std::span<OptionTable* const> tables) {
  const detail::Tables all(tables);
  json options = json::array();
  for (OptionTable* table : tables) {
    const json record = table->to_json();
    for (const OptionInfo& option : table->options())
      options.push_back(option_entry({table, option}, record.at(option.key)));
  }
  json presets = json::array();
  for (const Preset& preset : all.presets()) {
    json values = json::object();
    for (const auto& [key, value] : preset.values) values[key] = value;
    presets.push_back({{"name", preset.name}, {"meaning", preset.meaning}, {"values", values}});
  }
  return {{"options", std::move(options)}, {"presets", std::move(presets)}};
}

}  // namespace lockstep
