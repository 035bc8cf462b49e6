#include "tools/cli/words/translation/typed_line.h"

#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "core/config/synonym.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::cli {

bool is_typed_as_it_should_be(const TypedLine& line, const std::string& key) {
  return std::any_of(line.names.begin(), line.names.end(),
                     [&](const TypedName& name) { return name.name == key; });
}

std::string value_typed_for(const TypedLine& line, const std::string& key) {
  std::string value;
  for (const TypedName& name : line.names)
    if (name.name == key) value = name.value;
  return value;
}

std::vector<TypedName> typed_names_of(const Words& assignments) {
  std::vector<TypedName> typed;
  for (const std::string& word : assignments) {
    const std::size_t equals = word.find('=');
    if (equals != word.npos)
      typed.push_back({trim(word.substr(0, equals)), word.substr(equals + 1)});
  }
  return typed;
}

std::vector<TypedName> with_group(const Vocabulary& known, const std::string& group,
                                  std::vector<TypedName> names) {
  if (group.empty()) return names;
  for (TypedName& name : names)
    if (const std::string key = cat(group, ".", name.name); known.has(key)) name.name = key;
  return names;
}

std::string without_table(const Vocabulary& known, const std::string& name) {
  if (known.has(plain_name(name)) || find_synonym(known.synonyms, name) != nullptr) return name;
  return name.substr(name.rfind('.') + 1);
}

namespace {

// The value as a user would type it on the command line.
std::string text_of_entry(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (!value.is_array()) return value.dump();
  Words items;
  for (const nlohmann::json& item : value) items.push_back(text_of_entry(item));
  return join(items, ",");
}

}  // namespace

bool read_names(const Words& files, const Vocabulary& known, std::string_view key,
                TypedLine& line) {
  for (const std::string& file : files) {
    const std::vector<detail::TomlEntry> entries = detail::read_toml(file);
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const detail::TomlEntry& entry) { return entry.key == key; }))
      continue;
    line.file = file;
    line.names.clear();
    for (const detail::TomlEntry& entry : entries)
      line.names.push_back({without_table(known, entry.key), text_of_entry(entry.value)});
    return true;
  }
  return false;
}

}  // namespace lockstep::cli
