#include "tools/cli/words/translation/line_names.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/synonym.h"
#include "tools/cli/run_root.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

namespace lockstep::cli {

std::string recipe_named_in(const Command& command, const Words& words) {
  constexpr std::string_view batch = "batch ";
  if (command.name.starts_with(batch)) return command.name.substr(batch.size());
  if (command.complete == "run") return recipe_of_named_run(words);
  const auto named = std::find_if(words.begin(), words.end(), is_recipe_name);
  return named == words.end() ? "" : *named;
}

namespace {

const Flag* own_flag(const Command& command, const std::string& name) {
  const auto flag = std::find_if(command.flags.begin(), command.flags.end(),
                                 [&](const Flag& each) { return each.name == name; });
  return flag == command.flags.end() ? nullptr : &*flag;
}

// Whether the word is a flag. A negative number is not.
bool is_flag_word(const std::string& word) {
  return word.starts_with("-") && !whole_number(word, std::numeric_limits<std::int64_t>::min());
}

}  // namespace

bool is_list(const Vocabulary& known, const std::string& name) {
  const Synonym* const synonym = find_synonym(known.synonyms, name);
  const std::string key = known.has(plain_name(name)) || synonym == nullptr
                              ? plain_name(name)
                              : synonym->ours.substr(0, synonym->ours.find('='));
  const OptionInfo* const option = known.find(key);
  return option != nullptr && option->type == OptionType::list;
}

std::string list_at(const Words& words, std::size_t& at) {
  std::string list = words[at];
  while (at + 1 < words.size() && !is_flag_word(words[at + 1]) &&
         words[at + 1].find('=') == std::string::npos && !is_recipe_name(words[at + 1]))
    list += cat(list.ends_with(',') ? "" : ",", words[++at]);
  return list;
}

std::vector<TypedName> names_in_line(const Command& command, const Words& words,
                                     const Vocabulary& known, Words* others) {
  std::vector<TypedName> typed;
  const auto keep = [&](std::size_t from, std::size_t to) {
    if (others != nullptr)
      for (; from < to; ++from) others->push_back(words[from]);
  };
  std::size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t at = i;
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool has_value = name.size() < words[i].size();
    if (words[i].size() < 2 || words[i][0] != '-') {
      if (has_value)
        typed.push_back({name, words[i].substr(name.size() + 1)});
      else
        keep(i, i + 1);
      continue;
    }
    const Flag* const flag = own_flag(command, name);
    const bool value_follows = !has_value && i + 1 < words.size() && !is_flag_word(words[i + 1]) &&
                               (flag == nullptr ? words[i + 1].find('=') == std::string::npos &&
                                                      !is_recipe_name(words[i + 1])
                                                : !flag->value.empty());
    std::string value;
    if (has_value)
      value = words[i].substr(name.size() + 1);
    else if (value_follows)
      value = flag == nullptr && is_list(known, name) ? list_at(words, ++i) : words[++i];
    if (flag == nullptr)
      typed.push_back({name, value});
    else
      keep(at, i + 1);
  }
  keep(i, words.size());
  return typed;
}

Words faults_of_flags(const Command& command, const Words& words) {
  constexpr std::string_view choice = "word ";
  Words faults;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const Flag* const flag = own_flag(command, name);
    if (flag == nullptr || flag->value.empty() || !flag->complete.starts_with(choice) ||
        flag->complete.find(',') != std::string::npos)
      continue;
    const bool has_value = name.size() < words[i].size();
    if (!has_value && (i + 1 == words.size() || is_flag_word(words[i + 1]))) continue;
    const std::string value = has_value ? words[i].substr(name.size() + 1) : words[++i];
    const Words allowed = split(flag->complete.substr(choice.size()), '|');
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      faults.push_back(cat(name, " takes ", join(allowed, " or "), ", not ", shell_word(value)));
  }
  return faults;
}

std::string devices_given(const Words& words) {
  std::string spec;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--devices=")) spec = words[i].substr(words[i].find('=') + 1);
    if (words[i] == "--devices" && i + 1 < words.size()) spec = words[i + 1];
  }
  return spec;
}

}  // namespace lockstep::cli
