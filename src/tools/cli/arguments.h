// Describes the command lines of the tool as tables. One table drives parsing, help and shell
// completion.
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
  // how the shell completes the value: "file", "recipe", "run", "word a|b", ""
  std::string complete{};
  bool hidden = false;
  // Set only for flags with an optional value, such as "--serve [ADDRESS]". Returns whether the
  // next word is the value. If it is not, the value in Parsed is "".
  bool (*is_value)(const std::string& word) = nullptr;
};

// A flag that users type although the command lacks it, and a hint that names its replacement. In
// the hint, {value} stands for the typed value, or N if there is none. {name} stands for the value
// of --name, or NAME if there is none.
struct TriedFlag {
  std::string name;  // "--prompt"
  std::string hint;
};

struct Parsed {
  std::vector<std::string> positionals;
  std::vector<std::string> assignments;  // key=value
  std::vector<std::string> program;      // the words of the program that the command starts
  std::map<std::string, std::vector<std::string>> values;  // given flags, by name

  bool has(const std::string& flag) const { return values.contains(flag); }
  // returns the last value of the flag
  std::string value(const std::string& flag, const std::string& otherwise = "") const;
  std::vector<std::string> all(const std::string& flag) const;
};

struct Command {
  std::string name;
  std::string operands;  // "RECIPE [key=value …]"
  std::string summary;   // one line for the list of commands
  std::string details;   // paragraphs of the command's own help
  std::vector<Flag> flags;
  std::size_t min_positionals = 0, max_positionals = 0;
  bool takes_assignments = false;
  // The option keys that the command accepts. If empty, it accepts all keys of the recipe and the
  // engine.
  std::vector<std::string> only_options{};
  // The first word that is not a flag, and all words after it, are the words of a program.
  bool takes_program = false;
  // The words after `--` are the words of a program.
  bool program_after_dashes = false;
  // How the shell completes the first positional: "recipe", "run", "batch", "batch job" or "". With
  // "runs and batches", it completes every positional.
  std::string complete{};
  std::function<int(const Parsed&)> run;
  bool hidden = false;
  std::vector<TriedFlag> tried_flags{};
  // hint in the message about an unknown flag or operand
  std::string stray_hint{};
  // the group of options whose name may be left out (plan/bare_keys.h)
  std::string group{};
  bool takes_files = false;  // whether the shell also completes operands as files
  // If true, KEY=VALUE is an assignment only if KEY is one of only_options. Other words are
  // operands, such as "lr=0.1,seed=2", which is the name of a job.
  bool operands_have_equals = false;
};

// Parses the words after the command's name. "--flag=value" and "--flag value" are the same. After
// "--", no word is a flag or an assignment; all words are operands, or words of the program to
// start. Throws Error for an unknown flag (with the nearest name), a missing value, and too few or
// too many operands.
Parsed parse(const Command& command, const std::vector<std::string>& words);

// Whether --help or -h is among the command's own words, not those of a program that it starts.
bool asks_for_help(const Command& command, const std::vector<std::string>& words);

// Returns the help of a command, `width` columns wide. words: the other words on the command line.
// If the first operand is a recipe, the help also lists the recipe's options.
std::string command_help(const Command& command, const std::vector<std::string>& words = {},
                         int width = 80);
std::string overview(const std::vector<Command>& commands);

// Returns the second words of two-word commands that begin with `first`, such as "batch run".
// Hidden commands are left out.
std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      const std::string& first);
// Returns a list of the commands that begin with `first`, as help text.
std::string group_help(const std::vector<Command>& commands, const std::string& first);

// Whether the word is "key=value" and the key has the form of an option's name.
bool is_assignment(const std::string& word);

}  // namespace lockstep::cli
