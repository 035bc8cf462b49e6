// Explains words that are no option or flag here. They may be an option of another recipe, or
// another program's name (core/config/synonym.h).
#pragma once

#include "core/config/explain_key.h"
#include "core/devices/device.h"
#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// The flags of a command; by default those of training.
struct FlagsHere {
  std::vector<std::string> names{"--devices", "--name", "--resume"};
  bool counts_devices = false;  // a number after --devices is a count, not an index
  bool takes_kinds = false;     // its value may also be a kind of GPU, "2xT4"
  bool lists_counts = false;    // each number of a list is a count too
  std::string devices{};        // the value of --devices; empty if it was not given
  std::string group{};          // evaluate or predict: commands that read a run, and do not train
  std::string of_run{};         // name of a command that takes a run, whose weights it keeps
  bool resumes() const { return of_run == "resume"; }
  bool keeps_batch() const { return !group.empty() || resumes(); }
};
FlagsHere flags_here(const Command& command);
// The flags of a parsed command line.
FlagsHere flags_here(const Command& command, const Parsed& parsed);

// Explains keys that a recipe lacks. assignments: all "key=value" of the command, so that one
// message translates them together; likewise all keys of a file. devices: the devices of the
// command; none: unknown.
ExplainKey explain_keys(const std::string& recipe, const std::vector<std::string>& assignments,
                        const std::vector<Device>& devices, const FlagsHere& flags = {},
                        const std::vector<std::string>& files = {});

// The same. If a key resembles no option, also names the command that lists the options.
ExplainKey with_name_of(const std::string& recipe, ExplainKey explain);

// Translates a word of a command line, "--batch_size", "--batch_size=16" or "BATCH_SIZE=16",
// together with all other foreign words on the line: "write batch.global=32 …". Empty if the word
// is unknown.
std::string hint_for_word(const Command& command, const std::vector<std::string>& words,
                          const std::string& word);

// For an operand that follows the value of a list option, as B in "symbols=A B C": "write
// symbols=A,B,C". Empty for others.
std::string hint_for_list(const Command& command, const std::vector<std::string>& words,
                          const std::string& operand);

// For a superfluous operand that looks like a file: "write data.path=train.txt". Includes the files
// that follow it if the option takes several. Empty for others, and if the option is set already.
std::string hint_for_file(const Command& command, const std::vector<std::string>& words,
                          const std::string& operand);

// For a command line that begins with a flag and lacks the required recipe. Lists the existing
// recipes, and gives the line for the recipe that knows most of its names, in that recipe's words.
// Empty for other lines.
std::string hint_for_recipe(const Command& command, const std::vector<std::string>& words);

}  // namespace lockstep::cli
