#include "tools/cli/words/foreign_names.h"

#include "core/base/text/text.h"
#include "core/config/synonym.h"
#include "planning/options/train_options.h"
#include "tools/cli/words/translation/device_words.h"
#include "tools/cli/words/translation/hint_text.h"
#include "tools/cli/words/translation/line_names.h"
#include "tools/cli/words/translation/name_words.h"
#include "tools/cli/words/translation/translation.h"
#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"
#include "tools/jobs/job_file/job_keys.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace lockstep::cli {
namespace {

Error foreign_name(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  const Synonym& synonym = *find_synonym(known.synonyms, asked.name);
  return Error(cat(asked.name, " is not an option; it is a name of ", synonym.from),
               foreign_hint(known, line, asked));
}

}  // namespace

FlagsHere flags_here(const Command& command) {
  FlagsHere here{.names = {}, .of_run = command.complete == "run" ? command.name : ""};
  for (const Flag& flag : command.flags) here.names.push_back(flag.name);
  for (const char* counting : {"plan", "config", "bench"})
    here.counts_devices |= command.name == counting;
  here.takes_kinds = here.counts_devices && command.name != "bench";
  here.lists_counts = command.name == "bench";
  if (command.group == "evaluate" || command.group == "predict") here.group = command.group;
  if (command.complete == "run") here.of_run = command.name;
  return here;
}

FlagsHere flags_here(const Command& command, const Parsed& parsed) {
  FlagsHere here = flags_here(command);
  here.devices = parsed.value("--devices");
  return here;
}

namespace {

// A hint for an unknown name if other names on the line have a translation.
std::string hint_beside(const Vocabulary& known, const TypedLine& line, const std::string& name) {
  const bool any = std::any_of(line.names.begin(), line.names.end(), [&](const TypedName& each) {
    return each.name != name && !known.has(each.name) &&
           (is_known_name(known, each.name) || is_own_name(known, each.name));
  });
  if (!any) return "";
  const std::string near = is_own_name(known, name) ? "" : nearest(name, known.keys());
  return cat(near.empty() ? "" : cat("if you mean ", near, ", write that; else "),
             foreign_hint(known, line, {name, ""}));
}

bool is_job_key(const std::string& name) {
  const std::vector<JobKey>& keys = job_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const JobKey& key) { return key.key == name; });
}

// A hint for a key of job files, in a command that writes such a file.
std::string hint_for_job_key(const std::string& recipe, const std::string& key,
                             const std::string& value) {
  return cat("--write FILE.toml writes the job file of lockstep batch ", recipe, "; set ", key,
             " = ", value.empty() ? unknown_value : value,
             " there, and lockstep batch run FILE.toml runs it");
}

// The error for a flag or a key of job files that was typed as an option.
std::optional<Error> of_command(const FlagsHere& flags, const std::string& recipe,
                                const std::string& key, const std::string& value) {
  std::string flag = cat("--", key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (is_flag_of(flags, flag))
    return Error(cat(key, " is not an option, but a flag of the command"),
                 cat("write ", flag, value.empty() ? "" : cat(" ", shell_word(value))));
  if (is_flag_of(flags, "--slots") && is_job_key(key))
    return Error(cat(key, " is not an option, but a key of job files"),
                 hint_for_job_key(recipe, key, value));
  return std::nullopt;
}

// The error for an option of another recipe. Nothing if no recipe has it.
std::optional<Error> of_other_recipe(const Vocabulary& known, const std::string& recipe,
                                     std::string_view key) {
  const std::string hint = cat("`lockstep config ", recipe, "` lists its options");
  if (!known.is_of_engine && TrainOptions().table.has(key))
    return Error(cat(key, " is an option of the engine, without which ", recipe, " trains"), hint);
  const Words others = recipes_with(key);
  if (others.empty()) return std::nullopt;
  if (const Words own = keys_in_a_group(known.keys(), key); !own.empty())
    return Error(cat(key, " is not an option"), cat("did you mean ", join(own, " or "), "?"));
  return Error(cat(key, " is an option of the recipe", others.size() == 1 ? " " : "s ",
                   join(others, ", "), ", not of ", recipe),
               hint);
}

}  // namespace

ExplainKey explain_keys(const std::string& recipe, const Words& assignments,
                        const std::vector<Device>& devices, const FlagsHere& flags,
                        const Words& files) {
  return [=](std::string_view key, const std::string& value) -> std::optional<Error> {
    const Vocabulary known = vocabulary_of(recipe);
    TypedLine line{.recipe = recipe,
                   .names = with_group(known, flags.group, typed_names_of(assignments)),
                   .flags = flags,
                   .devices = devices.size(),
                   .has_gpu = has_gpus(devices)};
    TypedName asked{std::string(key), value};
    const bool is_typed = is_typed_as_it_should_be(line, asked.name);
    if (!is_typed && read_names(files, known, key, line))
      asked.name = without_table(known, asked.name);
    if (find_synonym(known.synonyms, asked.name) != nullptr)
      return foreign_name(known, line, asked);
    if (auto own = of_command(flags, recipe, asked.name, value)) return own;
    if (auto other = of_other_recipe(known, recipe, key)) return other;
    if (const std::string hint = hint_beside(known, line, asked.name); !hint.empty())
      return Error(cat(key, " is not an option"), hint);
    return std::nullopt;
  };
}

ExplainKey with_name_of(const std::string& recipe, ExplainKey explain) {
  return [=](std::string_view key, const std::string& value) -> std::optional<Error> {
    if (auto known = explain(key, value)) return known;
    const std::vector<std::string> keys = vocabulary_of(recipe).keys();
    const bool is_group = std::any_of(keys.begin(), keys.end(), [&](const std::string& one) {
      return one.starts_with(cat(key, "."));
    });
    if (is_group || !nearest(key, keys).empty()) return std::nullopt;
    return Error(cat(key, " is not an option"),
                 cat("`lockstep config ", recipe, "` lists all options"));
  };
}

std::string hint_for_word(const Command& command, const Words& words, const std::string& word) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const std::string recipe = recipe_named_in(command, words);
  const Vocabulary known = vocabulary_of(recipe);
  FlagsHere flags = flags_here(command);
  flags.devices = devices_given(words);
  const std::vector<Device> devices = devices_of_line(flags);
  const TypedLine line{
      .recipe = recipe,
      .names = with_group(known, flags.group, names_in_line(command, words, known)),
      .flags = flags,
      .devices = devices.size(),
      .has_gpu = has_gpus(devices),
      .faults = faults_of_flags(command, words)};
  const std::string name = word.substr(0, word.find('='));
  const auto asked = std::find_if(line.names.begin(), line.names.end(),
                                  [&](const TypedName& each) { return each.name == name; });
  if (asked == line.names.end()) return "";
  if (is_known_name(known, name) || !key_for_reading(known, flags.group, name).empty())
    return foreign_hint(known, line, *asked);
  if (is_flag_of(flags, "--slots") && is_job_key(plain_name(name)))
    return hint_for_job_key(recipe, plain_name(name), asked->value);
  if (!nearest(name, flags.names).empty()) return "";  // a similar flag was probably meant
  return hint_beside(known, line, name);
}

std::string hint_for_file(const Command& command, const Words& words, const std::string& operand) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const std::string suffix = std::filesystem::path(operand).extension();
  const auto is_one_of = [&](const Words& all) {
    return std::find(all.begin(), all.end(), suffix) != all.end();
  };
  // false for numbers such as 0.1
  const bool has_suffix = suffix.find_first_not_of(".0123456789") != suffix.npos;
  std::error_code unreadable;
  // If a command takes a run, a further word may be another run.
  const bool is_file = command.complete == "run"
                           ? std::filesystem::is_regular_file(operand, unreadable)
                           : has_suffix || operand.find('/') != operand.npos;
  if (!is_file || is_one_of({".py", ".ipynb", ".sh", ".toml", ".yaml", ".yml"})) return "";
  const bool is_weights = is_one_of({".pt", ".pth", ".bin", ".ckpt", ".safetensors"});
  if (is_weights && command.complete == "run") return "";  // the weights of a run stay
  const char* const key = is_weights ? first_weights : "data.path";
  const Vocabulary known = vocabulary_of(recipe_named_in(command, words));
  const OptionInfo* const option = known.find(key);
  const bool is_set = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.starts_with(cat(key, "="));
  });
  if (option == nullptr || is_set) return "";
  const auto typed = std::find(words.begin(), words.end(), operand);
  auto at = static_cast<std::size_t>(typed - words.begin());
  const bool takes_several = option->type == OptionType::list && typed != words.end();
  return cat("write ", shell_word(cat(key, "=", takes_several ? list_at(words, at) : operand)));
}

std::string hint_for_list(const Command& command, const Words& words, const std::string& operand) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const Vocabulary known = vocabulary_of(recipe_named_in(command, words));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('='), first = i;
    if (words[i].starts_with('-') || equals == std::string::npos ||
        !is_list(known, words[i].substr(0, equals)))
      continue;
    const std::string list = list_at(words, i);
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first),
               end = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(begin + 1, end, operand) != end)
      return cat("write ", shell_word(list), ": the values of a list have commas between them");
  }
  return "";
}

namespace {

// The words as the recipe takes them, each after a space. Words without a known meaning are not
// changed.
std::string line_in_our_words(const Command& command, const std::string& recipe,
                              const Words& words) {
  const Vocabulary known = vocabulary_of(recipe);
  FlagsHere flags = flags_here(command);
  flags.devices = devices_given(words);
  const std::vector<Device> devices = devices_of_line(flags);
  Words others;
  const TypedLine line{.recipe = recipe,
                       .names = names_in_line(command, words, known, &others),
                       .flags = flags,
                       .devices = devices.size(),
                       .has_gpu = has_gpus(devices)};
  const Translation all = translated(known, line);
  const auto stays = [&](const std::string& name) {
    return known.has(name) ||
           std::find(all.unknown.begin(), all.unknown.end(), name) != all.unknown.end();
  };
  std::string text;
  const auto rest = std::find(others.begin(), others.end(), "--");  // flags must not follow it
  const auto add = [&](auto from, auto to) {
    for (; from != to; ++from) text += cat(" ", shell_word(*from));
  };
  add(others.begin(), rest);
  for (const TypedName& name : line.names)
    if (stays(name.name)) {
      const bool is_flag = name.name.starts_with('-');
      if (!is_flag || name.value.empty())
        text += cat(" ", shell_word(is_flag ? name.name : cat(name.name, "=", name.value)));
      else
        text += cat(" ", name.name, " ", shell_word(name.value));
    }
  for (const OurWord& word : all.words) text += cat(" ", as_typed(word));
  add(rest, others.end());
  return text;
}

}  // namespace

std::string hint_for_recipe(const Command& command, const Words& words) {
  const bool names_plugin = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--plugin");
  });
  if (command.complete != "recipe" || command.min_positionals == 0 || names_plugin ||
      !words.front().starts_with('-') || !recipe_named_in(command, words).empty())
    return "";
  const Words recipes = recipe_names(command.name == "train" || command.name == "config");
  const std::vector<TypedName> names = names_in_line(command, words, vocabulary_of(""));
  const auto known_in = [&](const std::string& recipe) {
    const Vocabulary known = vocabulary_of(recipe);
    return std::count_if(names.begin(), names.end(),
                         [&](const TypedName& name) { return is_known_name(known, name.name); });
  };
  const auto best = std::max_element(
      recipes.begin(), recipes.end(),
      [&](const std::string& a, const std::string& b) { return known_in(a) < known_in(b); });
  if (best == recipes.end()) return "";
  return cat("name the recipe first, one of ", join(recipes, ", "), ": lockstep ", command.name,
             " ", *best, line_in_our_words(command, *best, words));
}

}  // namespace lockstep::cli
