// Reads names and flags from the words of a command line.
#pragma once

#include "tools/cli/arguments.h"
#include "tools/cli/words/translation/typed_line.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

std::string recipe_named_in(const Command& command, const Words& words);

// Whether the name is, or stands for, an option whose values are a list.
bool is_list(const Vocabulary& known, const std::string& name);

// The word and those behind it, up to a flag, an option or a recipe, with commas between them.
std::string list_at(const Words& words, std::size_t& at);

// The flags that the command lacks, and all words with an equals sign. others: gets the rest.
std::vector<TypedName> names_in_line(const Command& command, const Words& words,
                                     const Vocabulary& known, Words* others = nullptr);

// Values of the command's own flags that are none of the few that the flag takes. Where completion
// offers lists, they are examples.
Words faults_of_flags(const Command& command, const Words& words);

// The value of --devices; "" if it is not given.
std::string devices_given(const Words& words);

}  // namespace lockstep::cli
