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
  // Set for "--serve [ADDRESS]", whose value may be left out: whether the next word is it. Without
  // one, Parsed has "".
  bool (*is_value)(const std::string& word) = nullptr;
};

// A flag that people try though the command has none of that name, and what to write instead.
struct TriedFlag {
  std::string name;  // "--prompt"
  std::string hint;
};

struct Parsed {
  std::vector<std::string> positionals;
  std::vector<std::string> assignments;                    // key=value
  std::vector<std::string> program;                        // of a command that starts one
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
  bool takes_assignments = false;
  std::vector<std::string> only_options{};  // keys that it takes; empty: all of recipe and engine
  bool takes_program = false;         // the first word that is no flag begins a program's own words
  bool program_after_dashes = false;  // words behind -- are a program's
  std::string complete{};  // first positional: "recipe", "run", "batch", "batch job", ""; "runs and
                           // batches": each
  std::function<int(const Parsed&)> run;
  bool hidden = false;
  std::vector<TriedFlag> tried_flags{};
  std::string stray_hint{};  // where there are flags or operands that it does not have
  std::string group{};       // whose options may be named without it (bare_keys.h)
  bool takes_files = false;  // for completion: operands may be files
  // Of only_options alone words are options: an operand may be "lr=0.1,seed=2", the name of a job.
  bool operands_have_equals = false;
};

// Throws Error: unknown flag (nearest named), value missing, too few or too many operands.
// "--flag=value" and "--flag value" both work. "--" ends flags and key=value: what follows it is
// operands, or the program.
Parsed parse(const Command& command, const std::vector<std::string>& words);

// Whether --help or -h is among the words that are the command's own.
bool asks_for_help(const Command& command, const std::vector<std::string>& words);

// words: what was asked beside it. Where the first operand is a recipe, the options of its own are
// listed too, `width` columns wide.
std::string command_help(const Command& command, const std::vector<std::string>& words = {},
                         int width = 80);
std::string overview(const std::vector<Command>& commands);

// Commands of two words, such as "batch run", that begin with this one; their second words. Hidden
// ones are left out.
std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      const std::string& first);
// The commands that begin with `first`, in a list.
std::string group_help(const std::vector<Command>& commands, const std::string& first);

// True for "key=value" with a key of option form.
bool is_assignment(const std::string& word);

}  // namespace lockstep::cli
