// bash, zsh and fish scripts from the tables of commands, flags and recipe options.
#include "cli/completion_scripts.h"

#include "base/text.h"
#include "cli/resolve.h"
#include "plan/recipe_info.h"

#include <map>
#include <sstream>

namespace lockstep::cli {
namespace {

// Option keys of a recipe and the engine, "key=".
std::vector<std::string> keys_of(const RecipeInfo& recipe) {
  const RunSetup setup = make_setup(recipe.name, "", false);
  std::vector<std::string> keys;
  for (const OptionTable* table : setup.tables())
    for (const OptionInfo& option : table->options()) keys.push_back(option.key + "=");
  return keys;
}

std::string words_of(const std::vector<std::string>& words) { return join(words, " "); }

// Words that an option's value can be; empty if it is not one of a few.
std::vector<std::string> values_of(const OptionInfo& option, const std::vector<Preset>& presets) {
  if (option.type == OptionType::boolean) return {"true", "false"};
  if (option.key != "preset") return option.spec.choices;
  std::vector<std::string> names;
  for (const Preset& preset : presets) names.push_back(preset.name);
  return names;
}

// Cases of a bash `case "$key"`, one an option of any recipe whose values are known or are files.
std::string bash_option_values() {
  std::map<std::string, std::string> cases;
  for (const RecipeInfo& recipe : recipes()) {
    const RunSetup setup = make_setup(recipe.name, "", false);
    for (const OptionTable* table : setup.tables())
      for (const OptionInfo& option : table->options()) {
        const std::string words = words_of(values_of(option, setup.options->table.presets()));
        if (!words.empty())
          cases.emplace(option.key, cat("compgen -W '", words, "'"));
        else if (option.spec.is_path)
          cases.emplace(option.key, "compgen -f");
      }
  }
  std::string text;
  for (const auto& [key, command] : cases)
    text += cat("      ", key, ") COMPREPLY=($(", command, " -- \"$cur\")) ;;\n");
  return text;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const RecipeInfo& recipe : recipes()) names.push_back(recipe.name);
  return names;
}

std::vector<std::string> flag_names(const Command& command) {
  std::vector<std::string> names;
  for (const Flag& flag : command.flags)
    if (!flag.hidden) names.push_back(flag.name);
  names.push_back("--help");
  return names;
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    if (!command.hidden) names.push_back(command.name);
  return names;
}

// The words offered for a kind of value: "recipe", "word a|b", "devices"; empty for others.
std::string fixed_words(const std::string& complete) {
  if (complete == "recipe") return words_of(recipe_names());
  if (complete == "devices") return "all cpu cpu:2 cpu:4 0 0,1";
  if (complete.starts_with("word ")) return words_of(split(complete.substr(5), '|'));
  return "";
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_values(const Command& command) {
  std::ostringstream out;
  for (const Flag& flag : command.flags) {
    if (flag.value.empty() || flag.hidden) continue;
    const std::string words = fixed_words(flag.complete);
    out << "        " << flag.name << ") ";
    if (!words.empty())
      out << "COMPREPLY=($(compgen -W " << quoted(words) << " -- \"$cur\"))";
    else if (flag.complete == "file")
      out << "COMPREPLY=($(compgen -f -- \"$cur\"))";
    else
      out << "COMPREPLY=()";
    out << "; return ;;\n";
  }
  return out.str();
}

std::string bash_operands(const Command& command) {
  if (command.complete == "run") return "$(ls runs 2>/dev/null)";
  return fixed_words(command.complete);
}

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
  std::ostringstream out;
  out << "# bash completion for lockstep; load it with: source <(lockstep completion bash)\n"
         "_lockstep() {\n"
         "  local cur prev words cword command recipe\n"
         "  cur=\"${COMP_WORDS[COMP_CWORD]}\"; prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  command=\"${COMP_WORDS[1]}\"; recipe=\"${COMP_WORDS[2]}\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W "
      << quoted(words_of(command_names(commands)))
      << " -- \"$cur\")); return\n  fi\n"
      // bash splits words at "=".
      << "  local key=\n"
         "  if [ \"$cur\" = \"=\" ]; then key=$prev; cur=\n"
         "  elif [ \"$prev\" = \"=\" ]; then key=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
         "  if [ -n \"$key\" ] && [[ \"$key\" != -* ]]; then\n    case \"$key\" in\n"
      << bash_option_values() << "    esac\n    return\n  fi\n  case \"$command\" in\n";
  for (const Command& command : commands) {
    if (command.hidden) continue;
    out << "    " << command.name << ")\n      case \"$prev\" in\n"
        << bash_values(command)
        << "      esac\n      if [[ \"$cur\" == -* ]]; then COMPREPLY=($(compgen -W "
        << quoted(words_of(flag_names(command))) << " -- \"$cur\")); return; fi\n"
        << "      if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W \""
        << bash_operands(command) << "\" -- \"$cur\")); return; fi\n";
    if (command.takes_assignments) {
      out << "      compopt -o nospace\n      case \"$recipe\" in\n";
      for (const RecipeInfo& recipe : recipes())
        out << "        " << (command.complete == "recipe" ? recipe.name : "*")
            << ") COMPREPLY=($(compgen -W " << quoted(words_of(keys_of(recipe)))
            << " -- \"$cur\")) ;;\n";
      out << "      esac\n";
    }
    out << "      ;;\n";
  }
  out << "  esac\n}\ncomplete -F _lockstep lockstep\n";
  return out.str();
}

namespace {

std::string zsh_escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_action(const std::string& complete) {
  const std::string words = fixed_words(complete);
  if (!words.empty()) return "(" + words + ")";
  if (complete == "file") return "_files";
  if (complete == "run") return "_files -W runs -/";
  return " ";
}

}  // namespace

std::string zsh_completion(const std::vector<Command>& commands) {
  std::ostringstream out;
  out << "#compdef lockstep\n# zsh completion for lockstep\n_lockstep() {\n  local -a commands\n  "
         "commands=(\n";
  for (const Command& command : commands)
    if (!command.hidden)
      out << "    '" << command.name << ":" << zsh_escape(command.summary) << "'\n";
  out << "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  case $words[2] in\n";
  for (const Command& command : commands) {
    if (command.hidden) continue;
    out << "    " << command.name << ")\n      _arguments '1: :()'";
    for (const Flag& flag : command.flags) {
      if (flag.hidden) continue;
      out << " \\\n        '*" << flag.name << "[" << zsh_escape(flag.meaning) << "]";
      if (flag.optional_value) out << ":";
      if (!flag.value.empty()) out << ":" << flag.value << ":" << zsh_action(flag.complete);
      out << "'";
    }
    if (command.max_positionals > 0)
      out << " \\\n        '2:operand:" << zsh_action(command.complete) << "'";
    if (command.takes_assignments) {
      std::vector<std::string> keys;
      for (const RecipeInfo& recipe : recipes())
        for (const std::string& key : keys_of(recipe)) keys.push_back(key);
      out << " \\\n        '*:option:(" << words_of(keys) << ")'";
    }
    out << "\n      ;;\n";
  }
  out << "  esac\n}\n_lockstep \"$@\"\n";
  return out.str();
}

std::string fish_completion(const std::vector<Command>& commands) {
  std::ostringstream out;
  out << "# fish completion for lockstep\ncomplete -c lockstep -f\n";
  for (const Command& command : commands) {
    if (command.hidden) continue;
    out << "complete -c lockstep -n __fish_use_subcommand -a " << command.name << " -d "
        << quoted(command.summary) << "\n";
    const std::string seen = quoted("__fish_seen_subcommand_from " + command.name);
    for (const Flag& flag : command.flags) {
      if (flag.hidden) continue;
      out << "complete -c lockstep -n " << seen << " -l " << flag.name.substr(2) << " -d "
          << quoted(flag.meaning);
      const std::string words = fixed_words(flag.complete);
      if (!flag.value.empty() && !flag.optional_value) out << " -r";
      if (!words.empty()) out << " -a " << quoted(words);
      if (flag.complete == "file") out << " -F";
      out << "\n";
    }
    if (const std::string words = fixed_words(command.complete); !words.empty())
      out << "complete -c lockstep -n " << seen << " -a " << quoted(words) << "\n";
    if (command.complete == "run")
      out << "complete -c lockstep -n " << seen << " -a '(ls runs 2>/dev/null)'\n";
    if (!command.takes_assignments) continue;
    for (const RecipeInfo& recipe : recipes())
      out << "complete -c lockstep -n " << seen << " -a " << quoted(words_of(keys_of(recipe)))
          << "\n";
  }
  return out.str();
}

}  // namespace lockstep::cli
