// A command that is given as one text, as its words: quoted as for a shell, and run without one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Quotes and backslashes as in a POSIX shell. Throws Error: no word, a quote that is not closed, a
// backslash at the end, and what only a shell could do (pipes, redirections, variables, patterns,
// ~, several commands, NAME=value before the program), with a hint that names `sh -c`. what: how
// the text is called, "the command of A".
std::vector<std::string> command_words(std::string_view text, const std::string& what);

}  // namespace lockstep::cli
