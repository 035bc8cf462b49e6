#include "tools/cli/help/completion_words.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/plan/bare_keys.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "planning/recipe_info.h"
#include "planning/run_setup.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/plan/plugin_options.h"
#include "tools/cli/plan/trusted_plugins.h"
#include "tools/cli/run_root.h"
#include "tools/cli/words/foreign_names.h"
#include "tools/jobs/files/batch_shares.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace lockstep::cli {
namespace {

using Kind = Completion::Kind;
using Words = std::vector<std::string>;

// Offers the candidates to a shell, which reads one per line and shows it on a terminal. Candidates
// with unprintable characters are left out.
Completion offer(std::vector<Candidate> candidates, std::size_t value_at = 0) {
  std::erase_if(candidates, [](const Candidate& one) { return printable(one.text) != one.text; });
  for (Candidate& one : candidates) one.meaning = printable(one.meaning);
  const Kind kind = candidates.empty() ? Kind::nothing : Kind::words;
  return {kind, value_at, std::move(candidates)};
}

std::vector<Candidate> bare(const Words& texts) {
  std::vector<Candidate> candidates;
  for (const std::string& text : texts) candidates.push_back({text, ""});
  return candidates;
}

// The part of the line before the word that is being typed.
struct Before {
  Parsed parsed;
  const Flag* flag = nullptr;  // the flag whose value is being typed
  bool dashes = false;         // the line contains --
};

Before read_before(const Command& command, const Words& words) {
  Before before;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    before.flag = nullptr;
    const bool in_program = command.takes_program && !before.parsed.program.empty();
    if (in_program || before.dashes) {
      (command.takes_program || command.program_after_dashes ? before.parsed.program
                                                             : before.parsed.positionals)
          .push_back(word);
    } else if (word == "--") {
      before.dashes = true;
    } else if (word.starts_with('-') && word != "-") {
      const std::size_t equals = word.find('=');
      const auto flag =
          std::find_if(command.flags.begin(), command.flags.end(),
                       [&](const Flag& one) { return one.name == word.substr(0, equals); });
      if (flag == command.flags.end()) continue;
      const bool takes_next = equals == word.npos && !flag->value.empty();
      const bool is_last = i + 1 == words.size();
      if (takes_next && is_last) before.flag = &*flag;
      if (takes_next && !is_last && (!flag->is_value || flag->is_value(words[i + 1])))
        before.parsed.values[flag->name].push_back(words[++i]);
      else if (equals != word.npos)
        before.parsed.values[flag->name].push_back(word.substr(equals + 1));
    } else if (command.takes_program && !word.starts_with('-')) {
      before.parsed.program.push_back(word);
    } else if (command.takes_assignments && is_assignment(word)) {
      before.parsed.assignments.push_back(word);
    } else if (!word.starts_with('-')) {
      before.parsed.positionals.push_back(word);
    }
  }
  return before;
}

// The first words of commands, each once.
std::vector<Candidate> command_candidates(const std::vector<Command>& commands) {
  std::vector<Candidate> candidates;
  for (const Command& command : commands) {
    const std::string first = command.name.substr(0, command.name.find(' '));
    const bool again = !candidates.empty() && candidates.back().text == first;
    if (!command.hidden && !again) candidates.push_back({first, command.summary});
  }
  return candidates;
}

// The second words of two-word commands that begin with `first`.
std::vector<Candidate> second_candidates(const std::vector<Command>& commands,
                                         const std::string& first) {
  std::vector<Candidate> candidates;
  for (const Command& command : commands)
    if (command.name.starts_with(first + " ") && !command.hidden)
      candidates.push_back({command.name.substr(first.size() + 1), command.summary});
  return candidates;
}

std::vector<Candidate> flag_candidates(const Command& command) {
  std::vector<Candidate> candidates;
  for (const Flag& flag : command.flags)
    if (!flag.hidden) candidates.push_back({flag.name, flag.meaning});
  candidates.push_back({"--help", "prints help"});
  return candidates;
}

std::vector<Candidate> recipe_candidates() {
  std::vector<Candidate> candidates;
  for (const RecipeInfo& recipe : recipes()) candidates.push_back({recipe.name, recipe.summary});
  for (const DirectRecipe& recipe : direct_recipes())
    candidates.push_back({recipe.name, recipe.summary});
  return candidates;
}

// Folders in `root` that contain `file`. A name that looks like a flag, or that fish reads as a
// home folder, is offered as a path.
std::vector<Candidate> folder_candidates(const std::string& root, const char* file) {
  namespace fs = std::filesystem;
  Words names;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!fs::exists(entry->path() / file, ignored)) continue;
    names.push_back(name.starts_with('-') || name.starts_with('~') ? entry->path().string() : name);
  }
  std::sort(names.begin(), names.end());
  return bare(names);
}

std::vector<Candidate> run_candidates(const std::string& root) {
  return folder_candidates(root, "run.json");
}

Completion offer_kind(const std::string& complete, const Parsed& parsed, std::size_t value_at) {
  if (complete == "file") return {Kind::files, value_at, {}};
  if (complete == "program") return {Kind::program, value_at, {}};
  if (complete == "recipe") return offer(recipe_candidates(), value_at);
  if (complete == "run") return offer(run_candidates(run_root(parsed)), value_at);
  if (complete == "runs and batches") {
    std::vector<Candidate> all = run_candidates(run_root(parsed));
    for (Candidate& batch : folder_candidates(run_root(parsed), "batch.json"))
      all.push_back(std::move(batch));
    return offer(std::move(all), value_at);
  }
  if (complete == "batch" || complete == "batch job")
    return offer(folder_candidates(run_root(parsed), "batch.json"), value_at);
  if (complete == "devices")
    return offer(bare({"all", "cpu", "cpu:2", "cpu:4", "0", "0,1"}), value_at);
  if (complete.starts_with("word ")) return offer(bare(split(complete.substr(5), '|')), value_at);
  return {};
}

// Registers the recipes of a plugin that was used before. The plugin's code is not run.
void recall_plugin(const std::string& library) {
  Words known;
  for (const RecipeInfo& recipe : recipes()) known.push_back(recipe.name);
  for (const nlohmann::json& recipe : remembered_recipes(library))
    if (std::find(known.begin(), known.end(), text_or(recipe, "name", "")) == known.end())
      register_described_recipe(recipe);
}

// The recipe whose options the command takes. Nothing if it is unknown.
std::optional<std::string> recipe_in_words(const Command& command, const Parsed& parsed) {
  recall_plugin(parsed.value("--plugin"));
  if (parsed.positionals.empty()) return std::nullopt;
  std::string recipe = parsed.positionals[0];
  if (command.complete == "run") try {
      const nlohmann::json record = operand_run(parsed).record();
      recipe = text_or(record, "recipe", "");
      recall_plugin(text_or(record, "plugin", ""));
    } catch (const Error&) {
      return std::nullopt;
    }
  for (const RecipeInfo& known : recipes())
    if (known.name == recipe) return recipe;
  return std::nullopt;
}

// The direct recipe that the command names. Null if there is none.
const DirectRecipe* direct_of(const Command& command, const Parsed& parsed) {
  if (command.complete != "recipe" || parsed.positionals.empty()) return nullptr;
  return find_direct_recipe(parsed.positionals[0]);
}

// Groups whose options may be named without the group: the command's group, or the groups of
// --then.
Words groups_of(const Command& command, const Parsed& parsed) {
  if (!command.group.empty()) return {command.group};
  return parsed.has("--then") ? split(parsed.value("--then"), ',') : Words{};
}

// All options that the command takes.
std::vector<Candidate> all_keys(const Command& command, const Parsed& parsed) {
  std::vector<Candidate> candidates;
  for (const std::string& key : command.only_options) candidates.push_back({key + "=", ""});
  if (!command.only_options.empty()) return candidates;
  if (const DirectRecipe* const direct = direct_of(command, parsed)) {
    for (const OptionInfo& option : direct->make_options()->table.options())
      candidates.push_back({option.key + "=", option.spec.meaning});
    return candidates;
  }
  const std::optional<std::string> recipe = recipe_in_words(command, parsed);
  if (!recipe) return candidates;
  const RunSetup setup = make_setup(*recipe, "", false);
  for (const std::string& group : groups_of(command, parsed))
    for (const OptionInfo& option : setup.options->table.options())
      if (option.key.starts_with(group + "."))
        candidates.push_back({option.key.substr(group.size() + 1) + "=", option.spec.meaning});
  for (const OptionTable* table : setup.tables())
    for (const OptionInfo& option : table->options())
      candidates.push_back({option.key + "=", option.spec.meaning});
  return candidates;
}

// The options that were not given yet.
std::vector<Candidate> key_candidates(const Command& command, const Parsed& parsed) {
  std::vector<Candidate> candidates = all_keys(command, parsed);
  std::erase_if(candidates, [&](const Candidate& one) {
    return std::any_of(parsed.assignments.begin(), parsed.assignments.end(),
                       [&](const std::string& word) { return word.starts_with(one.text); });
  });
  return candidates;
}

Completion value_of_option(const OptionInfo& option, const std::vector<Preset>& presets,
                           std::size_t value_at) {
  if (option.spec.is_path) return {Kind::files, value_at, {}};
  if (option.type == OptionType::boolean) return offer(bare({"true", "false"}), value_at);
  if (option.key != "preset") return offer(bare(option.spec.choices), value_at);
  std::vector<Candidate> candidates;
  for (const Preset& preset : presets) candidates.push_back({preset.name, preset.meaning});
  return offer(std::move(candidates), value_at);
}

Completion option_value(const Command& command, const Parsed& parsed, const std::string& word) {
  const std::size_t value_at = word.find('=') + 1;
  const std::string key = word.substr(0, value_at - 1);
  if (key == "run.root") return {Kind::files, value_at, {}};
  if (const DirectRecipe* const direct = direct_of(command, parsed)) {
    const std::unique_ptr<DirectOptions> options = direct->make_options();
    for (const OptionInfo& option : options->table.options())
      if (option.key == key) return value_of_option(option, options->table.presets(), value_at);
    return {};
  }
  const std::optional<std::string> recipe = recipe_in_words(command, parsed);
  if (!recipe || !command.only_options.empty()) return {};
  const RunSetup setup = make_setup(*recipe, "", false);
  const std::string full = with_groups(setup, {groups_of(command, parsed), command.group.empty()},
                                       {key + "="}, explain_keys(setup.recipe, {}, {}))[0];
  if (full == cat(also_key, "="))
    return offer(run_candidates(run_root(parsed)), word.find_last_of("=,") + 1);
  for (const OptionTable* table : setup.tables())
    for (const OptionInfo& option : table->options())
      if (option.key + "=" == full)
        return value_of_option(option, setup.options->table.presets(), value_at);
  return {};
}

// Jobs of the batch named before, whose names begin with the typed word. A batch may have very
// many.
std::vector<Candidate> job_candidates(const Parsed& parsed, const std::string& typed) {
  constexpr std::int64_t most = 500;
  constexpr double patience_s = 1;
  std::vector<Candidate> candidates;
  for (const BatchFolder& part : parts_of(open_batch(parsed))) {
    Ledger ledger = Ledger::open_to_read(part.ledger(), patience_s);
    Statement rows(ledger.database(),
                   "SELECT name, state FROM job WHERE listed != 0 AND name >= ?1 AND name < ?2 "
                   "ORDER BY name LIMIT ?3");
    rows.bind(1, typed).bind(2, typed + '\xff').bind(3, most);
    while (rows.step()) candidates.push_back({rows.text(0), rows.text(1)});
  }
  return candidates;
}

bool takes_job(const Command& command, const Parsed& parsed) {
  return command.complete == "batch job" && parsed.positionals.size() == 1;
}

Completion operand(const Command& command, const Parsed& parsed, const std::string& typed) {
  const std::size_t number = parsed.positionals.size();
  if (command.complete == "recipe") recall_plugin(parsed.value("--plugin"));
  Completion completion;
  const bool any_number = command.complete == "runs and batches";
  if ((number == 0 || any_number) && command.max_positionals > 0)
    completion = offer_kind(command.complete, parsed, 0);
  if (takes_job(command, parsed)) completion = offer(job_candidates(parsed, typed));
  if (!command.takes_assignments || number < command.min_positionals) return completion;
  std::vector<Candidate> keys = key_candidates(command, parsed);
  keys.insert(keys.begin(), completion.candidates.begin(), completion.candidates.end());
  return offer(std::move(keys));
}

}  // namespace

Completion complete(const std::vector<Command>& commands, const Words& typed_words) {
  Words words = typed_words;
  if (words.size() < 2) return offer(command_candidates(commands));
  if (std::vector<Candidate> seconds = second_candidates(commands, words[0]); !seconds.empty()) {
    if (words.size() == 2) return offer(std::move(seconds));
    words[0] += " " + words[1];
    words.erase(words.begin() + 1);
  }
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& one) { return one.name == words[0]; });
  if (found == commands.end()) return {};
  const Command& command = *found;
  const Before before = read_before(command, {words.begin() + 1, words.end() - 1});
  const std::string& word = words.back();
  if (command.takes_program && !before.parsed.program.empty()) return {Kind::files, 0, {}};
  if (before.flag != nullptr && !before.flag->is_value)
    return offer_kind(before.flag->complete, before.parsed, 0);
  if (!before.dashes && word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) return offer(flag_candidates(command));
    for (const Flag& flag : command.flags)
      if (flag.name == word.substr(0, equals))
        return offer_kind(flag.complete, before.parsed, equals + 1);
    return {};
  }
  if (command.takes_program) return {Kind::program, 0, {}};
  const bool is_job = takes_job(command, before.parsed) && !word.starts_with("run.root=");
  if (!before.dashes && !is_job && command.takes_assignments && is_assignment(word))
    return option_value(command, before.parsed, word);
  if (before.dashes && command.program_after_dashes)
    return {before.parsed.program.empty() ? Kind::program : Kind::files, 0, {}};
  if (before.dashes) return command.takes_files ? Completion{Kind::files, 0, {}} : Completion{};
  // fish includes the quote with which a word begins.
  const std::string typed = word.starts_with('\'') || word.starts_with('"') ? word.substr(1) : word;
  Completion completion = operand(command, before.parsed, typed);
  const bool fits = std::any_of(completion.candidates.begin(), completion.candidates.end(),
                                [&](const Candidate& one) { return one.text.starts_with(typed); });
  if (command.takes_files && !fits) return {Kind::files, 0, {}};
  return completion;
}

}  // namespace lockstep::cli
