#include "cli/foreign_names.h"

#include "base/text.h"
#include "base/whole_number.h"
#include "cli/context.h"
#include "config/synonym.h"
#include "plan/direct_recipe.h"
#include "plan/recipe_info.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

const RecipeInfo* engine_recipe(const std::string& name) {
  for (const RecipeInfo& recipe : recipes())
    if (recipe.name == name) return &recipe;
  return nullptr;
}

Words recipes_with(std::string_view key) {
  Words names;
  for (const RecipeInfo& recipe : recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  for (const DirectRecipe& recipe : direct_recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  return names;
}

// What a command that names a recipe can be told: its options, and what others call them.
struct Vocabulary {
  Words keys;
  std::vector<Synonym> synonyms;
  bool is_of_engine = true;

  void add(const OptionTable& table) {
    for (std::string& key : table.keys()) keys.push_back(std::move(key));
    synonyms.insert(synonyms.end(), table.synonyms().begin(), table.synonyms().end());
  }
  bool has(const std::string& key) const {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
};

// recipe: "" where none is known.
Vocabulary vocabulary_of(const std::string& recipe) {
  Vocabulary all;
  if (const DirectRecipe* const direct = find_direct_recipe(recipe)) {
    all.add(direct->make_options()->table);
    all.is_of_engine = false;
    return all;
  }
  if (const RecipeInfo* const info = engine_recipe(recipe)) all.add(info->make_options()->table);
  all.add(TrainOptions().table);
  return all;
}

// The typed names that are no options, in the words of Lockstep, each once.
struct Translation {
  Words words;
  bool sums_up_devices = false;  // a value is of all devices
};

std::int64_t accumulation_in(const Vocabulary& known, const std::vector<TypedName>& typed) {
  for (const TypedName& name : typed) {
    const Synonym* const synonym = find_synonym(known.synonyms, name.name);
    if (plain_name(name.name) == "batch.accumulation" ||
        (synonym != nullptr && synonym->ours.starts_with("batch.accumulation=")))
      return whole_number<std::int64_t>(name.value, 1, 1'000'000).value_or(1);
  }
  return 1;
}

Translation translated(const Vocabulary& known, const std::vector<TypedName>& typed,
                       std::size_t devices) {
  Translation translation;
  const TypedBatch batch{.devices = static_cast<int>(devices),
                         .accumulation = accumulation_in(known, typed)};
  for (const TypedName& name : typed) {
    std::string ours;
    const std::string key = plain_name(name.name);
    if (known.has(key)) {
      if (name.name == key) continue;  // as it should be
      ours = cat(key, "=", name.value.empty() ? "VALUE" : name.value);
    } else if (const Synonym* const synonym = find_synonym(known.synonyms, name.name)) {
      ours = written_here(*synonym, name.value, batch);
      translation.sums_up_devices |= synonym->ours.find("{total}") != std::string::npos;
    }
    if (ours.empty()) continue;
    if (std::find(translation.words.begin(), translation.words.end(), ours) ==
        translation.words.end())
      translation.words.push_back(ours);
  }
  return translation;
}

std::string foreign_hint(const Vocabulary& known, const std::vector<TypedName>& typed,
                         const TypedName& asked, std::size_t devices) {
  const Translation all = translated(known, typed, devices);
  std::string hint = cat("write ", join(all.words, " "));
  if (all.sums_up_devices && devices > 0)
    hint += cat(": batch.global is of ", devices, devices == 1 ? " device" : " devices together");
  const Synonym* const synonym =
      known.has(plain_name(asked.name)) ? nullptr : find_synonym(known.synonyms, asked.name);
  if (synonym != nullptr && !synonym->note.empty()) hint += cat(" (", synonym->note, ")");
  return hint;
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

bool is_recipe_name(const std::string& word) {
  return engine_recipe(word) != nullptr || find_direct_recipe(word) != nullptr;
}

std::string recipe_named_in(const Command& command, const Words& words) {
  constexpr std::string_view batch = "batch ";
  if (command.name.starts_with(batch)) return command.name.substr(batch.size());
  const auto named = std::find_if(words.begin(), words.end(), is_recipe_name);
  return named == words.end() ? "" : *named;
}

const Flag* own_flag(const Command& command, const std::string& name) {
  const auto flag = std::find_if(command.flags.begin(), command.flags.end(),
                                 [&](const Flag& each) { return each.name == name; });
  return flag == command.flags.end() ? nullptr : &*flag;
}

// Of flags that the command does not have, and of all words with an equals sign.
std::vector<TypedName> names_in_line(const Command& command, const Words& words) {
  std::vector<TypedName> typed;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool has_value = name.size() < words[i].size();
    if (words[i].size() < 2 || words[i][0] != '-') {
      if (has_value) typed.push_back({name, words[i].substr(name.size() + 1)});
      continue;
    }
    const Flag* const flag = own_flag(command, name);
    const bool value_follows =
        !has_value && i + 1 < words.size() && !words[i + 1].starts_with("-") &&
        (flag == nullptr
             ? words[i + 1].find('=') == std::string::npos && !is_recipe_name(words[i + 1])
             : !flag->value.empty());
    const std::string value = has_value       ? words[i].substr(name.size() + 1)
                              : value_follows ? words[++i]
                                              : "";
    if (flag == nullptr) typed.push_back({name, value});
  }
  return typed;
}

// Of the machine, or that --devices names. 0: nobody knows.
std::size_t devices_meant(const Words& words) try {
  std::string spec = "all";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--devices=")) spec = words[i].substr(words[i].find('=') + 1);
    if (words[i] == "--devices" && i + 1 < words.size()) spec = words[i + 1];
  }
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES")).size();
} catch (const Error&) {
  return 0;
}

Error foreign_name(const Vocabulary& known, const std::vector<TypedName>& typed,
                   const TypedName& asked, std::size_t devices) {
  const Synonym& synonym = *find_synonym(known.synonyms, asked.name);
  return Error(cat(asked.name, " is not an option; it is a name of ", synonym.from),
               foreign_hint(known, typed, asked, devices));
}

}  // namespace

ExplainKey explain_keys(const std::string& recipe, const Words& assignments, std::size_t devices) {
  return [recipe, assignments, devices](std::string_view key,
                                        const std::string& value) -> std::optional<Error> {
    const TypedName asked{std::string(key), value};
    const Vocabulary known = vocabulary_of(recipe);
    if (find_synonym(known.synonyms, key) != nullptr) {
      std::vector<TypedName> typed = typed_names_of(assignments);
      const bool is_argument = std::any_of(typed.begin(), typed.end(), [&](const TypedName& name) {
        return name.name == asked.name;
      });
      if (!is_argument) typed.push_back(asked);  // it stands in a file
      return foreign_name(known, typed, asked, devices);
    }
    if (!known.is_of_engine && TrainOptions().table.has(key))
      return Error(cat(key, " is an option of the engine, without which ", recipe, " trains"),
                   cat("`lockstep config ", recipe, "` lists its options"));
    const Words others = recipes_with(key);
    if (others.empty()) return std::nullopt;
    return Error(cat(key, " is an option of the recipe", others.size() == 1 ? " " : "s ",
                     join(others, ", "), ", not of ", recipe),
                 cat("`lockstep config ", recipe, "` lists its options"));
  };
}

std::string hint_for_word(const Command& command, const Words& words, const std::string& word) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const Vocabulary known = vocabulary_of(recipe_named_in(command, words));
  const std::vector<TypedName> typed = names_in_line(command, words);
  const std::string name = word.substr(0, word.find('='));
  const auto asked = std::find_if(typed.begin(), typed.end(),
                                  [&](const TypedName& each) { return each.name == name; });
  const bool is_known = asked != typed.end() && (known.has(plain_name(name)) ||
                                                 find_synonym(known.synonyms, name) != nullptr);
  return is_known ? foreign_hint(known, typed, *asked, devices_meant(words)) : "";
}

}  // namespace lockstep::cli
