// Parses command lines, and prints their help.
#include "tools/cli/arguments.h"

#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/config/option_help.h"
#include "planning/direct_recipe.h"
#include "planning/recipe_info.h"
#include "tools/cli/words/foreign_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

constexpr int help_columns = 80;

// Wraps the text to `columns`. Sentences in the source may contain line breaks. A long line that
// does not end a sentence is joined with the next one.
std::string filled(const std::string& details, int columns) {
  std::string text, line;
  const auto is_command = [](const std::string& words) { return words.starts_with("lockstep "); };
  for (const std::string& next : split(details, '\n')) {
    const bool goes_on = cells_of(line) > columns && !is_command(line) && !is_command(next) &&
                         std::string_view(".:;").find(line.back()) == std::string_view::npos;
    if (goes_on) {
      line += " " + next;
      continue;
    }
    text += wrap_cells(line, columns) + "\n";
    line = next;
  }
  return text + wrap_cells(line, columns) + "\n";
}

const Flag* flag_named(const Command& command, const std::string& name) {
  for (const Flag& flag : command.flags)
    if (flag.name == name) return &flag;
  return nullptr;
}

bool takes_direct_recipes(const Command& command) {
  return command.name == "train" || command.name == "config";
}

// If a command accepts only engine recipes but another recipe is named, reports that.
void check_recipe(const Command& command, const Words& words) {
  if (command.complete != "recipe" || takes_direct_recipes(command)) return;
  for (const std::string& word : words)
    if (find_direct_recipe(word) != nullptr) find_recipe(word);  // throws Error
}

// The value that was typed for a flag. The command may not have that flag.
std::string value_typed(const Words& words, const std::string& name, const std::string& otherwise) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(name + "=")) return words[i].substr(name.size() + 1);
    if (words[i] == name && i + 1 < words.size() && !words[i + 1].starts_with('-'))
      return words[i + 1];
  }
  return otherwise;
}

std::string hint_of_tried(const TriedFlag& tried, const Words& words) {
  std::string hint = tried.hint;
  for (const auto& [place, value] :
       {std::pair<std::string, std::string>{"{value}", value_typed(words, tried.name, "N")},
        {"{name}", value_typed(words, "--name", "NAME")}})
    if (const std::size_t at = hint.find(place); at != hint.npos)
      hint.replace(at, place.size(), value);
  return hint;
}

// A hint for an unknown flag that resembles no known one.
std::string hint_for_flags(const Command& command, const Words& names) {
  constexpr std::size_t most_named = 12;
  const std::string help = cat("lockstep ", command.name, " --help");
  if (command.takes_assignments && command.only_options.empty())
    return cat("see ", help, "; options are written key=value, without --");
  return names.empty() || names.size() > most_named
             ? cat("see ", help)
             : cat("its flags are ", join(names, ", "), ": see ", help);
}

// words: all words of the command line.
const Flag& find_flag(const Command& command, const Words& words, const std::string& name) {
  if (const Flag* const flag = flag_named(command, name)) return *flag;
  check_recipe(command, words);
  const std::string what = cat("lockstep ", command.name, " has no flag ", name);
  for (const TriedFlag& tried : command.tried_flags)
    if (tried.name == name) throw Error(what, hint_of_tried(tried, words));
  if (const std::string hint = hint_for_recipe(command, words); !hint.empty())
    throw Error(cat("lockstep ", command.name, " needs ", command.operands), hint);
  if (const std::string hint = hint_for_word(command, words, name); !hint.empty())
    throw Error(what, hint);
  std::vector<std::string> names;
  for (const Flag& flag : command.flags)
    if (!flag.hidden) names.push_back(flag.name);
  const bool is_letter = name.size() == 2;  // all one-letter flags are equally similar
  if (const std::string near = nearest(name, names); !near.empty() && !is_letter)
    throw Error(what, cat("did you mean ", near, "?"));
  if (!command.stray_hint.empty()) throw Error(what, command.stray_hint);
  throw Error(what, hint_for_flags(command, names));
}

std::string recipes_help(const Command& command) {
  std::string text = "\nRecipes:\n";
  for (const RecipeInfo& recipe : recipes())
    text += hang_cells(cat("  ", pad_cells(recipe.name, 12)), recipe.summary, help_columns);
  if (takes_direct_recipes(command))
    for (const DirectRecipe& recipe : direct_recipes())
      text += hang_cells(cat("  ", pad_cells(recipe.name, 12)), recipe.summary, help_columns);
  if (flag_named(command, "--plugin") != nullptr) text += "  --plugin LIB brings its own.\n";
  return text + "`lockstep config RECIPE` lists every option, which key=value sets.\n";
}

// The help for the options of the recipe that `words` name.
std::string options_help(const Words& words, int width) {
  const auto is_named = [&](const auto& recipe) {
    return std::find(words.begin(), words.end(), recipe.name) != words.end();
  };
  const auto text = [&](const std::string& name, OptionTable* table, const std::string& more) {
    return cat("\nOptions of ", name, more, ":\n", options_text(std::span(&table, 1), width));
  };
  for (const RecipeInfo& recipe : recipes())
    if (is_named(recipe))
      return text(recipe.name, &recipe.make_options()->table,
                  cat(" (those of the engine: lockstep config ", recipe.name, ")"));
  for (const DirectRecipe& recipe : direct_recipes())
    if (is_named(recipe)) return text(recipe.name, &recipe.make_options()->table, "");
  return "";
}

std::string shown_flag(const Flag& flag) {
  if (flag.is_value != nullptr) return cat(flag.name, " [", flag.value, "]");
  return flag.value.empty() ? flag.name : flag.name + " " + flag.value;
}

}  // namespace

std::string Parsed::value(const std::string& flag, const std::string& otherwise) const {
  const auto found = values.find(flag);
  return found == values.end() ? otherwise : found->second.back();
}

std::vector<std::string> Parsed::all(const std::string& flag) const {
  const auto found = values.find(flag);
  return found == values.end() ? std::vector<std::string>{} : found->second;
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string::npos) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

namespace {

// The value of the flag in words[at]. The value follows "=" or is the next word. In the second
// case, `at` advances to it.
std::string value_of(const Flag& flag, const Words& words, std::size_t& at) {
  const std::string& word = words[at];
  if (const std::size_t equals = word.find('='); equals != word.npos) {
    if (flag.value.empty())
      throw Error(cat(flag.name, " takes no value"), cat("write ", flag.name, " by itself"));
    return word.substr(equals + 1);
  }
  if (flag.value.empty()) return "";
  const bool is_last = at + 1 == words.size();
  if (flag.is_value != nullptr) return is_last || !flag.is_value(words[at + 1]) ? "" : words[++at];
  if (is_last) throw Error(cat(flag.name, " needs a value: ", shown_flag(flag)), flag.meaning);
  if (words[at + 1].starts_with("--"))
    throw Error(
        cat(flag.name, " needs a value: ", shown_flag(flag), "; ", words[at + 1], " is a flag"),
        cat("if it is the value: ", flag.name, "=", words[at + 1]));
  return words[++at];
}

bool is_option(const Command& command, const std::string& word) {
  if (!command.takes_assignments || !is_assignment(word)) return false;
  const std::vector<std::string>& only = command.only_options;
  return !command.operands_have_equals ||
         std::find(only.begin(), only.end(), word.substr(0, word.find('='))) != only.end();
}

// Throws Error for a surplus operand. With an equals sign, it may be another program's option in
// capitals.
[[noreturn]] void refuse_operand(const Command& command, const Words& words,
                                 const std::string& operand, const std::string& usage) {
  const bool is_assigned = operand.find('=') != operand.npos;
  std::string hint =
      is_assigned ? hint_for_word(command, words, operand) : hint_for_list(command, words, operand);
  if (hint.empty() && !is_assigned) hint = hint_for_file(command, words, operand);
  throw Error(cat("unexpected argument ", operand), !hint.empty() ? hint
                                                    : command.stray_hint.empty()
                                                        ? usage
                                                        : command.stray_hint);
}

// Throws Error for another program's option in capitals, unless a file has that name. An operand
// with spaces is a text.
void refuse_foreign_name(const Command& command, const Words& words, const std::string& operand) {
  const std::size_t equals = operand.find('=');
  const std::string name = operand.substr(0, equals);
  const bool is_name =
      equals != operand.npos && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
      });
  std::error_code error;
  const bool is_text = operand.find_first_of(" \t\n") != operand.npos;
  if (!command.takes_files || !is_name || is_text || std::filesystem::exists(operand, error))
    return;
  if (const std::string hint = hint_for_word(command, words, operand); !hint.empty())
    throw Error(cat("unexpected argument ", operand), hint);
}

void check_operands(const Command& command, const Words& words, const Parsed& parsed) {
  const std::string usage = cat("usage: lockstep ", command.name, " ", command.operands);
  if (parsed.positionals.size() < command.min_positionals)
    throw Error(cat("lockstep ", command.name, " needs ", command.operands), usage);
  if (parsed.positionals.size() > command.max_positionals)
    refuse_operand(command, words, parsed.positionals[command.max_positionals], usage);
  const std::vector<std::string>& only = command.only_options;
  for (const std::string& word : parsed.assignments)
    if (!only.empty() &&
        std::find(only.begin(), only.end(), word.substr(0, word.find('='))) == only.end())
      throw Error(cat("lockstep ", command.name, " takes no option but ", join(only, ", "),
                      ", but was given ", word),
                  usage);
}

}  // namespace

Parsed parse(const Command& command, const Words& words) {
  Parsed parsed;
  Words& after = command.takes_program ? parsed.program : parsed.positionals;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto here = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (word == "--") {
      Words& program = command.program_after_dashes ? parsed.program : after;
      program.insert(program.end(), here + 1, words.end());
      break;
    }
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      const Flag& flag = find_flag(command, words, name);
      std::string value = value_of(flag, words, i);
      parsed.values[flag.name].push_back(std::move(value));
    } else if (command.takes_program) {
      after.assign(here, words.end());
      break;
    } else if (is_option(command, word)) {
      parsed.assignments.push_back(word);
    } else {
      refuse_foreign_name(command, words, word);
      parsed.positionals.push_back(word);
    }
  }
  check_operands(command, words, parsed);
  return parsed;
}

bool asks_for_help(const Command& command, const Words& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--help" || words[i] == "-h") return true;
    if (!command.takes_program) continue;
    if (!words[i].starts_with('-')) return false;
    const Flag* const flag = flag_named(command, words[i]);
    if (flag == nullptr || flag->value.empty() || i + 1 == words.size()) continue;
    if (flag->is_value == nullptr || flag->is_value(words[i + 1]))
      i += words[i + 1].starts_with("--") ? 0 : 1;
  }
  return false;
}

std::string command_help(const Command& command, const Words& words, int width) {
  const int columns = std::min(width, help_columns);
  std::string text = cat(command.summary, "\n\n");
  text +=
      hang_cells("Usage: ", trim(cat("lockstep ", command.name, " ", command.operands)), columns);
  if (!command.details.empty()) text += filled(command.details, columns);
  if (command.complete == "recipe") text += recipes_help(command);
  int widest = 6;
  for (const Flag& flag : command.flags)
    if (!flag.hidden) widest = std::max(widest, cells_of(shown_flag(flag)));
  text += "\nFlags:\n";
  for (const Flag& flag : command.flags)
    if (!flag.hidden)
      text += hang_cells(cat("  ", pad_cells(shown_flag(flag), widest + 2)), flag.meaning, columns);
  text += cat("  ", pad_cells("--help", widest + 2), "prints this\n");
  if (command.complete == "recipe" && command.takes_assignments) text += options_help(words, width);
  return text;
}

std::string overview(const std::vector<Command>& commands) {
  std::string text =
      "Lockstep puts every GPU of a machine to work.\n\nUsage: lockstep COMMAND …\n\nCommands:\n";
  std::string group;
  for (const Command& command : commands) {
    const std::size_t space = command.name.find(' ');
    const std::string first = command.name.substr(0, space);
    if (command.hidden || (space != command.name.npos && first == group)) continue;
    group = first;
    text += hang_cells(cat("  ", pad_cells(first, 12)), command.summary, help_columns);
    if (space != command.name.npos)
      text += hang_cells(cat("  ", pad_cells("", 12), "lockstep ", first, " "),
                         join(second_words(commands, first), " | "), help_columns);
  }
  return text +
         "\n`lockstep COMMAND --help` says more; `lockstep config RECIPE` lists a recipe's\n"
         "options; `lockstep help WORD …` says what to do, as in `help nccl timeout`.\n"
         "Exit codes: 0 finished, 1 failed, 2 wrong use or input, 4 a batch that is not\n"
         "as --expect says, 75 stopped and resumable, 130 interrupted.\n";
}

std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      const std::string& first) {
  std::vector<std::string> seconds;
  for (const Command& command : commands)
    if (command.name.starts_with(first + " ") && !command.hidden)
      seconds.push_back(command.name.substr(first.size() + 1));
  return seconds;
}

std::string group_help(const std::vector<Command>& commands, const std::string& first) {
  std::string text = cat("Usage: lockstep ", first, " COMMAND …\n\nCommands:\n");
  for (const Command& command : commands)
    if (command.name.starts_with(first + " ") && !command.hidden)
      text += hang_cells(cat("  ", pad_cells(command.name.substr(first.size() + 1), 10)),
                         command.summary, help_columns);
  return text + cat("\n`lockstep ", first, " COMMAND --help` says more.\n");
}

}  // namespace lockstep::cli
