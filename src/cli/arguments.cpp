// Parsing of command lines, and their help.
#include "cli/arguments.h"

#include "base/cells.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

const Flag& find_flag(const Command& command, const std::string& name) {
  std::vector<std::string> names;
  for (const Flag& flag : command.flags) {
    if (flag.name == name) return flag;
    if (!flag.hidden) names.push_back(flag.name);
  }
  const std::string near = nearest(name, names);
  throw Error(cat("lockstep ", command.name, " has no flag ", name),
              near.empty() ? cat("see lockstep ", command.name, " --help")
                           : cat("did you mean ", near, "?"));
}

std::string shown(const Flag& flag) {
  if (flag.optional_value) return cat(flag.name, " [", flag.value, "]");
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

Parsed parse(const Command& command, const std::vector<std::string>& words) {
  Parsed parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      parsed.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const Flag& flag = find_flag(command, word.substr(0, equals));
      std::string value;
      if (equals != std::string::npos) {
        if (flag.value.empty())
          throw Error(cat(flag.name, " takes no value"), cat("write ", flag.name, " by itself"));
        value = word.substr(equals + 1);
      } else if (flag.optional_value) {
        if (i + 1 < words.size() && !words[i + 1].starts_with('-')) value = words[++i];
      } else if (!flag.value.empty()) {
        if (++i == words.size())
          throw Error(cat(flag.name, " needs a value: ", shown(flag)), flag.meaning);
        value = words[i];
      }
      parsed.values[flag.name].push_back(value);
    } else if (word.size() > 1 && word[0] == '-') {
      throw Error(cat("lockstep ", command.name, " has no flag ", word),
                  cat("see lockstep ", command.name, " --help"));
    } else if (command.takes_assignments && is_assignment(word)) {
      parsed.assignments.push_back(word);
    } else {
      parsed.positionals.push_back(word);
    }
  }
  const std::string usage = cat("usage: lockstep ", command.name, " ", command.operands);
  if (parsed.positionals.size() < command.min_positionals)
    throw Error(cat("lockstep ", command.name, " needs ", command.operands), usage);
  if (parsed.positionals.size() > command.max_positionals)
    throw Error(cat("unexpected argument ", parsed.positionals[command.max_positionals]), usage);
  if (!command.takes_rest && !parsed.rest.empty())
    throw Error(cat("lockstep ", command.name, " takes nothing after --"), usage);
  return parsed;
}

std::string command_help(const Command& command) {
  std::string text =
      cat(command.summary, "\n\nUsage: lockstep ", command.name, " ", command.operands, "\n");
  if (!command.details.empty()) text += "\n" + command.details + "\n";
  int width = 6;
  for (const Flag& flag : command.flags)
    if (!flag.hidden) width = std::max(width, cells_of(shown(flag)));
  text += "\nFlags:\n";
  for (const Flag& flag : command.flags)
    if (!flag.hidden) text += cat("  ", pad_cells(shown(flag), width + 2), flag.meaning, "\n");
  return text + cat("  ", pad_cells("--help", width + 2), "prints this\n");
}

std::string overview(const std::vector<Command>& commands) {
  std::string text =
      "Lockstep puts every GPU of a machine to work.\n\nUsage: lockstep COMMAND …\n\nCommands:\n";
  for (const Command& command : commands)
    if (!command.hidden)
      text += cat("  ", pad_cells(command.name + " ", 12), command.summary, "\n");
  return text +
         "\n`lockstep COMMAND --help` says more; `lockstep config RECIPE` lists a recipe's "
         "options.\n"
         "Exit codes: 0 finished, 1 failed, 2 wrong use or input, 75 stopped and resumable, 130 "
         "interrupted.\n";
}

}  // namespace lockstep::cli
