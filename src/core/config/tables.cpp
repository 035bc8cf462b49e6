// Combines several option tables into one.
#include "core/config/tables.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::detail {
namespace {

std::string group_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return std::string(dot == std::string_view::npos ? "" : key.substr(0, dot));
}

}  // namespace

std::string source_note(const OptionGroup::Member& member) {
  const OptionInfo& info = member.info;
  const std::string value = member.table->get(info.key);
  std::string from;
  switch (info.source.kind) {
    case ValueSource::Kind::standard:
      return "";
    case ValueSource::Kind::preset:
      from = cat("from preset ", info.source.where);
      break;
    case ValueSource::Kind::file:
      from = cat("from ", info.source.where);
      break;
    case ValueSource::Kind::argument:
      from = "from the command line";
      break;
    case ValueSource::Kind::record:
      from = "from the record of the run";
      break;
  }
  if (value == info.default_text) return from;
  return cat(from, "; the default is ", info.default_text.empty() ? "empty" : info.default_text);
}

Tables::Tables(std::span<OptionTable* const> tables, ExplainKey explain)
    : tables_(tables), explain_(std::move(explain)) {
  const char* hint = "this is a mistake in the program or plugin that adds the options";
  for (const OptionTable* table : tables_)
    for (std::string& key : table->keys()) keys_.push_back(std::move(key));
  sorted_ = keys_;
  std::sort(sorted_.begin(), sorted_.end());
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
  if (twice != sorted_.end()) throw Error(cat("option ", *twice, " is in two tables"), hint);
  // All characters of a key sort after the dot, so keys of a group follow the group's name
  // directly.
  for (std::size_t i = 0; i + 1 < sorted_.size(); ++i)
    if (sorted_[i + 1].starts_with(sorted_[i]) && sorted_[i + 1][sorted_[i].size()] == '.')
      throw Error(cat(sorted_[i], " is both an option and a group of options"), hint);
}

OptionTable* Tables::find(std::string_view key) const {
  for (OptionTable* table : tables_)
    if (table->has(key)) return table;
  return nullptr;
}

std::string Tables::nearest_key(std::string_view word) const { return nearest(word, keys_); }

bool Tables::is_group(std::string_view name) const {
  const std::string prefix = std::string(name) + '.';
  const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), prefix);
  return first != sorted_.end() && first->starts_with(prefix);
}

OptionTable& Tables::table_of(std::string_view key, const std::string& value) const {
  if (OptionTable* table = find(key)) return *table;
  if (is_group(key)) {
    const std::string kind = cat(key, ".kind");
    if (const OptionTable* const table = find(kind))
      if (const std::string meant = table->choice_meant(kind, value); !meant.empty())
        throw Error(cat(key, " is a group of options, not an option"),
                    cat("write ", kind, "=", meant));
    if (explain_)
      if (const std::optional<Error> known = explain_(key, value)) throw Error(*known);
    std::vector<std::string> members;
    std::copy_if(keys_.begin(), keys_.end(), std::back_inserter(members),
                 [&](const std::string& name) { return name.starts_with(cat(key, ".")); });
    throw Error(cat(key, " is a group of options, not an option"),
                cat("its options are ", join(members, ", ")));
  }
  if (explain_)
    if (const std::optional<Error> known = explain_(key, value)) throw Error(*known);
  const std::string near = nearest_key(key);
  throw Error(cat(key, " is not an option"), near.empty()
                                                 ? "`lockstep config RECIPE` lists all options"
                                                 : cat("did you mean ", near, "?"));
}

const Preset& Tables::preset(std::string_view name) const {
  std::vector<std::string> names;
  for (const OptionTable* table : tables_) {
    for (const Preset& preset : table->presets()) {
      if (preset.name == name) return preset;
      names.push_back(preset.name);
    }
  }
  if (names.empty()) throw Error(cat("there is no preset ", name), "this recipe has no presets");
  const std::string near = nearest(name, names);
  throw Error(
      cat("there is no preset ", name),
      cat(near.empty() ? "" : cat("did you mean ", near, "? "), "presets are ", join(names, ", ")));
}

std::vector<Preset> Tables::presets() const {
  std::vector<Preset> all;
  for (const OptionTable* table : tables_)
    all.insert(all.end(), table->presets().begin(), table->presets().end());
  return all;
}

std::vector<OptionGroup> Tables::groups() const {
  std::vector<OptionGroup> groups{{}};
  for (OptionTable* table : tables_) {
    for (OptionInfo& option : table->options()) {
      const std::string name = group_of(option.key);
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const OptionGroup& known) { return known.name == name; });
      if (group == groups.end()) group = groups.insert(groups.end(), OptionGroup{name, {}});
      group->members.push_back({table, std::move(option)});
    }
  }
  if (groups.front().members.empty()) groups.erase(groups.begin());
  return groups;
}

}  // namespace lockstep::detail
