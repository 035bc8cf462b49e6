// Splits a command given as one text into words: quoted as for a shell, but run without one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Quotes and backslashes work as in a POSIX shell. Throws Error for no word, an open quote, and a
// backslash at the end. Also throws for anything that needs a shell (pipes, redirections,
// variables, patterns, ~, several commands, NAME=value before the program), with a hint that names
// `sh -c`. what: the text's name in messages, "the command of A".
std::vector<std::string> command_words(std::string_view text, const std::string& what);

}  // namespace lockstep::cli
