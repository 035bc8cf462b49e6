// Reads names and flags from the words of a command line.
#pragma once

#include "tools/cli/arguments.h"
#include "tools/cli/words/translation/typed_line.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

std::string recipe_named_in(const Command& command, const Words& words);

// Whether the name is an option that takes a list, or another program's name for such an option.
bool is_list(const Vocabulary& known, const std::string& name);

// Joins the word at `at` and the words after it with commas, up to a flag, an assignment or a
// recipe. Sets `at` to the last joined word.
std::string list_at(const Words& words, std::size_t& at);

// Returns the flags that the command lacks, with their values, and all words with an equals sign.
// others: receives all remaining words.
std::vector<TypedName> names_in_line(const Command& command, const Words& words,
                                     const Vocabulary& known, Words* others = nullptr);

// Returns phrases about faulty values of the command's own flags. Only flags with a fixed set of
// values are checked. If completion offers a value with commas, the values are only examples, and
// the flag is not checked.
Words faults_of_flags(const Command& command, const Words& words);

// Returns the value of --devices; "" if the flag is absent.
std::string devices_given(const Words& words);

}  // namespace lockstep::cli
