// Command lines as tables: one table drives parsing, help and shell completion.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Flag {
  std::string name;   // "--devices"
  std::string value;  // "LIST", or empty for a switch
  std::string meaning;
  std::string
      complete{};  // what completion offers for the value: "file", "recipe", "run", "word a|b", ""
  bool hidden = false;
  // "--serve [ADDRESS]": without one, Parsed has "". The next word is its value unless it begins
  // with "-": for commands without operands.
  bool optional_value = false;
};

struct Parsed {
  std::vector<std::string> positionals;
  std::vector<std::string> assignments;                    // key=value
  std::vector<std::string> rest;                           // after --
  std::map<std::string, std::vector<std::string>> values;  // flags given, by name

  bool has(const std::string& flag) const { return values.contains(flag); }
  std::string value(const std::string& flag, const std::string& otherwise = "") const;  // the last
  std::vector<std::string> all(const std::string& flag) const;
};

struct Command {
  std::string name;
  std::string operands;  // "RECIPE [key=value …]"
  std::string summary;   // one line, in the list of commands
  std::string details;   // paragraphs of the command's own help
  std::vector<Flag> flags;
  std::size_t min_positionals = 0, max_positionals = 0;
  bool takes_assignments = false, takes_rest = false;
  std::string complete{};  // of the first positional: "recipe", "run", "command", ""
  std::function<int(const Parsed&)> run;
  bool hidden = false;
};

// Throws Error: unknown flag (nearest named), value missing, too few or too many operands.
// "--flag=value" and "--flag value" both work; "--" ends flags.
Parsed parse(const Command& command, const std::vector<std::string>& words);

std::string command_help(const Command& command);
std::string overview(const std::vector<Command>& commands);

// True for "key=value" with a key of option form.
bool is_assignment(const std::string& word);

}  // namespace lockstep::cli
