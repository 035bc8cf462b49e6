// What a word means that is no option or flag here: an option of another recipe, or a name that
// other programs have (config/synonym.h).
#pragma once

#include "cli/arguments.h"
#include "config/explain_key.h"
#include "devices/device.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// What a command can be told by flags: those of training, if nothing else is known.
struct FlagsHere {
  std::vector<std::string> names{"--devices", "--name", "--resume"};
  bool counts_devices = false;  // a number after --devices says how many, not which
  bool takes_kinds = false;     // and what stands there may be a kind of GPU, "2xT4"
  bool lists_counts = false;    // so does each number of a list
  std::string devices{};        // what was given to --devices; empty: it was not given
};
FlagsHere flags_here(const Command& command);
// Of a command line that was read.
FlagsHere flags_here(const Command& command, const Parsed& parsed);

// Of keys that a recipe does not have. assignments: "key=value", all that the command was given, so
// that one message translates them together, as it does all keys of a file. devices: that the
// command is for; none: not known.
ExplainKey explain_keys(const std::string& recipe, const std::vector<std::string>& assignments,
                        const std::vector<Device>& devices, const FlagsHere& flags = {},
                        const std::vector<std::string>& files = {});

// The same, and of a key that is near to no option, which command lists them.
ExplainKey with_name_of(const std::string& recipe, ExplainKey explain);

// What to write for a word of a command line, "--batch_size", "--batch_size=16" or "BATCH_SIZE=16",
// and for all others of the line that are no words of Lockstep: "write batch.global=32 …". Empty:
// nothing is known of the word.
std::string hint_for_word(const Command& command, const std::vector<std::string>& words,
                          const std::string& word);

// Of a command line that begins with a flag and names no recipe, where one is needed: which recipes
// there are, and the line with the one that knows most of its names. Empty: it is not like that.
std::string hint_for_recipe(const Command& command, const std::vector<std::string>& words);

}  // namespace lockstep::cli
