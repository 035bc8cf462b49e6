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
  std::string complete{};  // completion of the value: "file", "recipe", "run", "word a|b", ""
  bool hidden = false;
  // Set only for flags with an optional value, such as "--serve [ADDRESS]". Returns whether the
  // next word is the value. Without a value, Parsed has "".
  bool (*is_value)(const std::string& word) = nullptr;
};

// A flag that users try although the command lacks it, and its replacement. In the hint, {value}
// stands for the typed value (N without one), and {name} for the value of --name (NAME without
// one).
struct TriedFlag {
  std::string name;  // "--prompt"
  std::string hint;
};

struct Parsed {
  std::vector<std::string> positionals;
  std::vector<std::string> assignments;                    // key=value
  std::vector<std::string> program;                        // for a command that starts a program
  std::map<std::string, std::vector<std::string>> values;  // given flags, by name

  bool has(const std::string& flag) const { return values.contains(flag); }
  // the last value of the flag
  std::string value(const std::string& flag, const std::string& otherwise = "") const;
  std::vector<std::string> all(const std::string& flag) const;
};

struct Command {
  std::string name;
  std::string operands;  // "RECIPE [key=value …]"
  std::string summary;   // one line for the list of commands
  std::string details;   // paragraphs for the command's own help
  std::vector<Flag> flags;
  std::size_t min_positionals = 0, max_positionals = 0;
  bool takes_assignments = false;
  // keys that it accepts; empty: all keys of recipe and engine
  std::vector<std::string> only_options{};
  bool takes_program = false;         // the first word that is not a flag begins the words of a
                                      // program
  bool program_after_dashes = false;  // words after -- belong to a program
  std::string complete{};  // type of the first positional: "recipe", "run", "batch", "batch job",
                           // ""; "runs and batches": of each
  std::function<int(const Parsed&)> run;
  bool hidden = false;
  std::vector<TriedFlag> tried_flags{};
  std::string stray_hint{};  // hint for unknown flags or operands
  std::string group{};       // group whose options may be named without it (bare_keys.h)
  bool takes_files = false;  // for completion: operands may be files
  // True: only words with keys of only_options are options. An operand may be "lr=0.1,seed=2", the
  // name of a job.
  bool operands_have_equals = false;
};

// Throws Error for an unknown flag (it suggests the nearest), a missing value, and too few or too
// many operands. "--flag=value" and "--flag value" both work. "--" ends flags and key=value; the
// words after it are operands, or the program.
Parsed parse(const Command& command, const std::vector<std::string>& words);

// Whether --help or -h is among the command's own words.
bool asks_for_help(const Command& command, const std::vector<std::string>& words);

// words: the other words on the command line. If the first operand is a recipe, the help also lists
// the recipe's options. It is `width` columns wide.
std::string command_help(const Command& command, const std::vector<std::string>& words = {},
                         int width = 80);
std::string overview(const std::vector<Command>& commands);

// Returns the second words of two-word commands that begin with `first`, such as "batch run".
// Hidden commands are left out.
std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      const std::string& first);
// A list of the commands that begin with `first`.
std::string group_help(const std::vector<Command>& commands, const std::string& first);

// True for "key=value" whose key has the form of an option.
bool is_assignment(const std::string& word);

}  // namespace lockstep::cli
