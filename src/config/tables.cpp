// Several option tables seen as one.
#include "config/tables.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace lockstep::detail {
namespace {

std::string group_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return std::string(dot == std::string_view::npos ? "" : key.substr(0, dot));
}

}  // namespace

Tables::Tables(std::span<OptionTable* const> tables) : tables_(tables) {
  const char* hint = "this is a mistake in the program or plugin that adds the options";
  std::vector<std::string> all = keys();
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice != all.end()) throw Error(cat("option ", *twice, " is in two tables"), hint);
  for (const std::string& key : all)
    if (is_group(key)) throw Error(cat(key, " is both an option and a group of options"), hint);
}

std::vector<std::string> Tables::keys() const {
  std::vector<std::string> all;
  for (const OptionTable* table : tables_)
    for (const OptionInfo& option : table->options()) all.push_back(option.key);
  return all;
}

OptionTable* Tables::find(std::string_view key) const {
  for (OptionTable* table : tables_)
    if (table->has(key)) return table;
  return nullptr;
}

std::string Tables::nearest_key(std::string_view word) const { return nearest(word, keys()); }

bool Tables::is_group(std::string_view name) const {
  const std::string prefix = cat(name, ".");
  const std::vector<std::string> all = keys();
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& key) { return key.starts_with(prefix); });
}

OptionTable& Tables::table_of(std::string_view key) const {
  if (OptionTable* table = find(key)) return *table;
  const std::vector<std::string> all = keys();
  if (is_group(key)) {
    std::vector<std::string> members;
    std::copy_if(all.begin(), all.end(), std::back_inserter(members),
                 [&](const std::string& name) { return name.starts_with(cat(key, ".")); });
    throw Error(cat(key, " is a group of options, not an option"),
                cat("its options are ", join(members, ", ")));
  }
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
