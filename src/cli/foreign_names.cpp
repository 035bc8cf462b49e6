#include "cli/foreign_names.h"

#include "base/text.h"
#include "base/whole_number.h"
#include "cli/context.h"
#include "config/synonym.h"
#include "plan/direct_recipe.h"
#include "plan/recipe_info.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

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
  std::vector<OptionInfo> options;
  std::vector<Synonym> synonyms;
  bool is_of_engine = true;

  void add(const OptionTable& table) {
    for (OptionInfo& option : table.options()) options.push_back(std::move(option));
    synonyms.insert(synonyms.end(), table.synonyms().begin(), table.synonyms().end());
  }
  const OptionInfo* find(const std::string& key) const {
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const OptionInfo& each) { return each.key == key; });
    return option == options.end() ? nullptr : &*option;
  }
  bool has(const std::string& key) const { return find(key) != nullptr; }
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

// What was typed, and what is known of where it stands.
struct TypedLine {
  std::vector<TypedName> names;
  FlagsHere flags;
  std::size_t devices = 0;  // 0: nobody knows
  bool is_file = false;     // the names are one of a file, of which nothing else is known
};

// The typed names that are no options, in the words of Lockstep, each once.
struct Translation {
  std::vector<OurWord> words;
  Words left_out;                // names for which there is nothing to write
  std::size_t devices = 0;       // that the words are for
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

// Of "0,1,2". 0: it is no such list.
std::size_t indexes_in(const std::string& list) {
  const Words indexes = split(list, ',');
  const bool are_all = std::all_of(indexes.begin(), indexes.end(), [](const std::string& index) {
    return whole_number(index).has_value();
  });
  return are_all ? indexes.size() : 0;
}

bool counts_from_first(const std::string& list) {
  const Words indexes = split(list, ',');
  for (std::size_t i = 0; i < indexes.size(); ++i)
    if (indexes[i] != cat(i)) return false;
  return true;
}

// Two values of --devices as one: which (or how many) rather than all, so many CPU ranks, and
// indexes rather than a number of devices.
std::string devices_of_both(const std::string& one, const std::string& other) {
  if (one == "all") return other;
  if (other == "all") return one;
  if (one == "cpu" || other == "cpu") {
    const std::size_t count = indexes_in(one == "cpu" ? other : one);
    return count > 1 ? cat("cpu:", count) : "cpu";
  }
  return counts_from_first(one) ? other : one;
}

// Of two words for one setting the one that counts; nothing where they contradict each other.
std::optional<OurWord> word_of_both(const OurWord& one, const OurWord& other) {
  if (one.name == "--devices") return OurWord{one.name, devices_of_both(one.value, other.value)};
  if (one.value == other.value) return one;
  if (one.is_off != other.is_off) return one.is_off ? other : one;
  if (one.value == "auto") return other;
  if (other.value == "auto") return one;
  return std::nullopt;
}

void add_word(std::vector<OurWord>& words, const OurWord& word) {
  for (OurWord& before : words) {
    if (before.name != word.name) continue;
    if (const auto both = word_of_both(before, word)) {
      before = *both;
      return;
    }
  }
  words.push_back(word);
}

// -1 of a program where it means that nothing is set.
bool says_nothing(const Vocabulary& known, const OurWord& word) {
  const OptionInfo* const option = known.find(word.name);
  return option != nullptr && word.value == "-1" && option->spec.min >= 0 && option->spec.min <= 1;
}

bool is_flag_of(const FlagsHere& flags, const std::string& name) {
  return std::find(flags.names.begin(), flags.names.end(), name) != flags.names.end();
}

// The words that can be written here, with "true" for a switch without a value.
std::vector<OurWord> words_that_fit(const Vocabulary& known, const FlagsHere& flags,
                                    std::vector<OurWord> words) {
  std::erase_if(words, [&](const OurWord& word) {
    if (word.name == "--devices" && !flags.devices.empty()) return true;
    return word.name.starts_with("--") ? !is_flag_of(flags, word.name) : says_nothing(known, word);
  });
  for (OurWord& word : words) {
    const OptionInfo* const option = known.find(word.name);
    if (option != nullptr && option->type == OptionType::boolean && word.value == unknown_value)
      word.value = "true";
  }
  return words;
}

Translation translated_for(const Vocabulary& known, const TypedLine& line,
                           const TypedBatch& batch) {
  Translation translation;
  translation.devices = static_cast<std::size_t>(batch.devices);
  for (const TypedName& name : line.names) {
    const std::string key = plain_name(name.name);
    std::vector<OurWord> words;
    if (known.has(key)) {
      if (name.name == key) continue;  // as it should be
      words = {{key, name.value.empty() ? unknown_value : name.value}};
    } else if (const Synonym* const synonym = find_synonym(known.synonyms, name.name)) {
      words = written_here(*synonym, name.value, batch);
      translation.sums_up_devices |= synonym->ours.find("{total}") != std::string::npos;
    } else {
      continue;
    }
    words = words_that_fit(known, line.flags, std::move(words));
    if (words.empty()) translation.left_out.push_back(key);
    for (const OurWord& word : words) add_word(translation.words, word);
  }
  return translation;
}

// How many devices a value of --devices means. 0: nobody knows.
std::size_t devices_in(const std::string& spec, bool counts_devices) try {
  if (!counts_devices && indexes_in(spec) > 0) return indexes_in(spec);
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES")).size();
} catch (const Error&) {
  return 0;
}

const OurWord* devices_word(const std::vector<OurWord>& words) {
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const OurWord& each) { return each.name == "--devices"; });
  return word == words.end() ? nullptr : &*word;
}

// Which devices comes first: how many they are says what all of them take in a step.
std::size_t devices_meant(const Vocabulary& known, const TypedLine& line) {
  const Translation without_count = translated_for(known, line, {});
  const OurWord* const word = devices_word(without_count.words);
  return word == nullptr || word->value == "all" ? line.devices : devices_in(word->value, false);
}

// --devices of a command that counts them: their number, and all without it.
void count_devices(std::vector<OurWord>& words) {
  std::erase_if(
      words, [](const OurWord& word) { return word.name == "--devices" && word.value == "all"; });
  for (OurWord& word : words)
    if (word.name == "--devices")
      if (const std::size_t count = indexes_in(word.value); count > 0) word.value = cat(count);
}

Translation translated(const Vocabulary& known, const TypedLine& line) {
  TypedBatch batch;
  if (!line.is_file)
    batch = {.devices = static_cast<int>(devices_meant(known, line)),
             .accumulation = accumulation_in(known, line.names)};
  Translation translation = translated_for(known, line, batch);
  if (line.flags.counts_devices) count_devices(translation.words);
  return translation;
}

std::string as_typed(const OurWord& word) {
  return word.name.starts_with("--") ? cat(word.name, " ", shell_word(word.value))
                                     : shell_word(cat(word.name, "=", word.value));
}

std::string batch_note(std::size_t devices) {
  if (devices == 0) return ": batch.global is of all devices together, times batch.accumulation";
  return cat(": batch.global is of ", devices, devices == 1 ? " device" : " devices together");
}

// What else to know of a name; nothing where it is simply off.
std::string note_of(const Vocabulary& known, const FlagsHere& flags, const Translation& all,
                    const std::string& key) {
  const Synonym* const synonym = known.has(key) ? nullptr : find_synonym(known.synonyms, key);
  if (synonym == nullptr) return "";
  if (!flags.devices.empty() && synonym->ours.find("--devices") != std::string::npos)
    return cat(" (--devices ", shell_word(flags.devices), " is given)");
  if (synonym->note.empty()) return "";
  const bool is_left_out =
      std::find(all.left_out.begin(), all.left_out.end(), key) != all.left_out.end();
  return is_left_out && synonym->none_when_off ? "" : cat(" (", synonym->note, ")");
}

std::string foreign_hint(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  const Translation all = translated(known, line);
  Words words;
  for (const OurWord& word : all.words) words.push_back(as_typed(word));
  std::string hint = words.empty() ? "" : cat("write ", join(words, " "));
  if (all.sums_up_devices && (all.devices > 0 || line.is_file)) hint += batch_note(all.devices);
  if (words.empty())
    hint = "leave it out";
  else if (!all.left_out.empty())
    hint += cat("; leave out ", join(all.left_out, ", "));
  return hint + note_of(known, line.flags, all, plain_name(asked.name));
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

// A number may be less than zero.
bool is_flag_word(const std::string& word) {
  return word.starts_with("-") && !whole_number(word, std::numeric_limits<std::int64_t>::min());
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
    const bool value_follows = !has_value && i + 1 < words.size() && !is_flag_word(words[i + 1]) &&
                               (flag == nullptr ? words[i + 1].find('=') == std::string::npos &&
                                                      !is_recipe_name(words[i + 1])
                                                : !flag->value.empty());
    const std::string value = has_value       ? words[i].substr(name.size() + 1)
                              : value_follows ? words[++i]
                                              : "";
    if (flag == nullptr) typed.push_back({name, value});
  }
  return typed;
}

// What --devices is given; "": nothing.
std::string devices_given(const Words& words) {
  std::string spec;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--devices=")) spec = words[i].substr(words[i].find('=') + 1);
    if (words[i] == "--devices" && i + 1 < words.size()) spec = words[i + 1];
  }
  return spec;
}

Error foreign_name(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  const Synonym& synonym = *find_synonym(known.synonyms, asked.name);
  return Error(cat(asked.name, " is not an option; it is a name of ", synonym.from),
               foreign_hint(known, line, asked));
}

}  // namespace

FlagsHere flags_here(const Command& command) {
  FlagsHere here{.names = {}};
  for (const Flag& flag : command.flags) here.names.push_back(flag.name);
  for (const char* counting : {"plan", "config", "bench"})
    here.counts_devices |= command.name == counting;
  return here;
}

FlagsHere flags_here(const Command& command, const Parsed& parsed) {
  FlagsHere here = flags_here(command);
  here.devices = parsed.value("--devices");
  return here;
}

ExplainKey explain_keys(const std::string& recipe, const Words& assignments, std::size_t devices,
                        const FlagsHere& flags) {
  return [recipe, assignments, devices, flags](std::string_view key,
                                               const std::string& value) -> std::optional<Error> {
    const TypedName asked{std::string(key), value};
    const Vocabulary known = vocabulary_of(recipe);
    if (find_synonym(known.synonyms, key) != nullptr) {
      TypedLine line{typed_names_of(assignments), flags, devices};
      line.is_file = std::none_of(line.names.begin(), line.names.end(),
                                  [&](const TypedName& name) { return name.name == asked.name; });
      if (line.is_file) line.names = {asked};
      return foreign_name(known, line, asked);
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
  FlagsHere flags = flags_here(command);
  flags.devices = devices_given(words);
  // Of the machine, or that --devices names.
  const std::size_t devices =
      devices_in(flags.devices.empty() ? "all" : flags.devices, flags.counts_devices);
  const TypedLine line{names_in_line(command, words), flags, devices};
  const std::vector<TypedName>& typed = line.names;
  const std::string name = word.substr(0, word.find('='));
  const auto asked = std::find_if(typed.begin(), typed.end(),
                                  [&](const TypedName& each) { return each.name == name; });
  const bool is_known = asked != typed.end() && (known.has(plain_name(name)) ||
                                                 find_synonym(known.synonyms, name) != nullptr);
  return is_known ? foreign_hint(known, line, *asked) : "";
}

}  // namespace lockstep::cli
