// Applies presets, config files and key=value arguments, and restores the options of records.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/explain_key.h"
#include "core/config/options.h"
#include "core/config/read_toml.h"
#include "core/config/tables.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::string_view kPresetKey = "preset";

// One value that was given for an option, and its place.
struct Source {
  std::string key;
  json value;         // from a file
  std::string text;   // from an argument or a preset, if `value` is null
  std::string where;  // for messages
  ValueSource source{};
};

Source from_argument(const detail::Tables& tables, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals != std::string::npos && equals > 0)
    return {.key = trim(argument.substr(0, equals)),
            .value = {},
            .text = argument.substr(equals + 1),
            .where = "argument " + argument,
            .source = {.kind = ValueSource::Kind::argument}};
  const std::string near = equals == 0 ? "" : tables.nearest_key(argument);
  throw Error(cat("argument ", argument, " is not of the form key=value"),
              near.empty() ? "write an option's name, =, and its value, such as seed=7"
                           : cat("write ", near, "=VALUE"));
}

// A file may be empty if a command failed whose output was redirected to it.
void check_not_empty(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > 0)
    return;
  throw Error(cat(path.string(), " is empty: it sets no option"),
              "write options into it, a line NAME = VALUE each, or leave it out; `lockstep config "
              "RECIPE --toml` prints a file of all options");
}

std::vector<Source> from_files(std::span<const std::filesystem::path> files) {
  std::vector<Source> sources;
  for (const std::filesystem::path& path : files) {
    check_not_empty(path);
    for (detail::TomlEntry& entry : detail::read_toml(path)) {
      const std::string where =
          cat(path.string(), entry.line > 0 ? cat(", line ", entry.line) : "");
      sources.push_back({.key = std::move(entry.key),
                         .value = std::move(entry.value),
                         .text = {},
                         .where = where,
                         .source = {.kind = ValueSource::Kind::file, .where = where}});
    }
  }
  return sources;
}

// Runs the action, and adds the place to an Error from it.
template <class Action>
void located(const std::string& where, Action action) {
  try {
    action();
  } catch (const Error& error) {
    throw Error(cat(error.what(), " (", where, ")"), error.hint());
  }
}

// The value as a user would type it.
std::string text_of(const Source& source) {
  if (source.value.is_null()) return source.text;
  if (source.value.is_string()) return source.value.get<std::string>();
  return source.value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void apply(const detail::Tables& tables, const Source& source) {
  located(source.where, [&] {
    // An empty table of a group sets no option.
    const bool empty_table = source.value.is_object() && source.value.empty();
    if (empty_table && !tables.find(source.key) && tables.is_group(source.key)) return;
    OptionTable& table = tables.table_of(source.key, text_of(source));
    if (source.value.is_null())
      table.set(source.key, source.text, source.source);
    else
      table.set_json(source.key, source.value, source.source);
  });
}

// The last preset that the sources name. If there is none, the default preset, unless it was
// already applied.
std::optional<Source> chosen_preset(const detail::Tables& tables,
                                    const std::vector<Source>& sources) {
  OptionTable* table = tables.find(kPresetKey);
  if (!table) return std::nullopt;
  std::optional<Source> chosen;
  if (!table->is_set(kPresetKey))
    chosen = Source{.key = std::string(kPresetKey),
                    .value = {},
                    .text = table->get(kPresetKey),
                    .where = "default"};
  for (const Source& source : sources) {
    if (source.key != kPresetKey) continue;
    // Applying the value will refuse it.
    if (!source.value.is_null() && !source.value.is_string()) continue;
    chosen = source;
    if (source.value.is_string()) chosen->text = source.value.get<std::string>();
  }
  return chosen && !chosen->text.empty() ? chosen : std::nullopt;
}

void apply_preset(const detail::Tables& tables, const Source& chosen) {
  const Preset* preset = nullptr;
  located(chosen.where, [&] { preset = &tables.preset(chosen.text); });
  tables.table_of(kPresetKey).set(kPresetKey, preset->name, chosen.source);
  for (const auto& [key, value] : preset->values)
    apply(tables, {.key = key,
                   .value = {},
                   .text = value,
                   .where = cat("preset ", preset->name),
                   .source = {.kind = ValueSource::Kind::preset, .where = preset->name}});
}

// Whether a list in a file is replaced by arguments. A batch turns each value of the list into an
// argument, and the option itself would refuse a list.
bool is_replaced_list(const detail::Tables& tables, const Source& source,
                      const std::vector<Source>& sources) {
  return source.value.is_array() && tables.find(source.key) != nullptr &&
         std::any_of(sources.begin(), sources.end(), [&](const Source& other) {
           return other.source.kind == ValueSource::Kind::argument && other.key == source.key;
         });
}

}  // namespace

void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments) {
  apply_config(tables, files, assignments, {});
}

void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments, const ExplainKey& explain) {
  const detail::Tables all(tables, explain);
  std::vector<Source> sources = from_files(files);
  for (const std::string& argument : assignments) sources.push_back(from_argument(all, argument));
  if (const std::optional<Source> preset = chosen_preset(all, sources)) apply_preset(all, *preset);
  for (const Source& source : sources)
    if (!is_replaced_list(all, source, sources)) apply(all, source);
}

void apply_json(std::span<OptionTable* const> tables, const json& record) {
  const detail::Tables all(tables);
  if (!record.is_object()) throw Error("the record of a configuration must be a JSON object");
  for (const auto& [key, value] : record.items())
    all.table_of(key).set_json(key, value, {.kind = ValueSource::Kind::record});
}

}  // namespace lockstep
