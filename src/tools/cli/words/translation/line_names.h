// Reads names and flags from the words of a command line.
#pragma once

#include "tools/cli/arguments.h"
#include "tools/cli/words/translation/typed_line.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

std::string recipe_named_in(const Command& command, const Words& words);

// Whether the name is an option whose values are a list, or stands for one.
bool is_list(const Vocabulary& known, const std::string& name);

// The word and those that follow it, up to a flag, an option or a recipe, with commas between them.
std::string list_at(const Words& words, std::size_t& at);

// The flags that the command lacks, and all words with an equals sign. others: receives the other
// words.
std::vector<TypedName> names_in_line(const Command& command, const Words& words,
                                     const Vocabulary& known, Words* others = nullptr);

// Faulty values of the command's own flags: flags that take only a few values. If completion offers
// a list, its values are only examples, and no fault is found.
Words faults_of_flags(const Command& command, const Words& words);

// The value of --devices; "" if it is absent.
std::string devices_given(const Words& words);

}  // namespace lockstep::cli
