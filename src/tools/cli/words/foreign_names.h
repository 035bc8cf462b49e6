// Explains typed words that are neither an option nor a flag of the command. A word may be an
// option of another recipe, or another program's name for an option (core/config/synonym.h).
#pragma once

#include "core/config/explain_key.h"
#include "core/devices/device.h"
#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// The flags of a command, and facts about it. The default values are those of `lockstep train`.
struct FlagsHere {
  std::vector<std::string> names{"--devices", "--name", "--resume"};
  bool counts_devices = false;  // whether a number after --devices is a count, not an index
  bool takes_kinds = false;     // whether the value of --devices may also be a kind of GPU, "2xT4"
  bool lists_counts = false;    // whether each number in a list of --devices is a count
  std::string devices{};        // the value of --devices; empty if it was not given
  std::string group{};          // "evaluate" or "predict" for these commands; else empty
  std::string of_run{};         // name of the command if it takes a run and its weights; else empty
  bool resumes() const { return of_run == "resume"; }
  bool keeps_batch() const { return !group.empty() || resumes(); }
};
FlagsHere flags_here(const Command& command);
// Returns the same facts for a parsed command line, and sets `devices`.
FlagsHere flags_here(const Command& command, const Parsed& parsed);

// Explains keys that a recipe lacks. assignments: all "key=value" of the command, which one message
// translates together. files: config files; all keys of the file with the unknown key are
// translated together. devices: the devices of the command; empty if unknown.
ExplainKey explain_keys(const std::string& recipe, const std::vector<std::string>& assignments,
                        const std::vector<Device>& devices, const FlagsHere& flags = {},
                        const std::vector<std::string>& files = {});

// Returns `explain` with an addition: for a key that resembles no option, it names the command that
// lists all options.
ExplainKey with_name_of(const std::string& recipe, ExplainKey explain);

// Returns a hint about a word on the line that belongs to another program, such as "--batch_size",
// "--batch_size=16" or "BATCH_SIZE=16". The hint translates all such words on the line: "write
// batch.global=32 …". Returns "" if nothing is known about the word.
std::string hint_for_word(const Command& command, const std::vector<std::string>& words,
                          const std::string& word);

// Returns a hint for an operand that follows a value of a list option. For B in "symbols=A B C", it
// is "write symbols=A,B,C". Returns "" for any other operand.
std::string hint_for_list(const Command& command, const std::vector<std::string>& words,
                          const std::string& operand);

// Returns a hint for a surplus operand that looks like a file, such as "write data.path=train.txt".
// If the option takes several files, the hint also contains the files that follow. Returns "" for
// any other operand, and if the option is set already.
std::string hint_for_file(const Command& command, const std::vector<std::string>& words,
                          const std::string& operand);

// Returns a hint for a command line that begins with a flag and lacks the required recipe. The hint
// lists the recipes. It also gives the translated line for the recipe that knows most of the typed
// names. Returns "" for any other line.
std::string hint_for_recipe(const Command& command, const std::vector<std::string>& words);

}  // namespace lockstep::cli
