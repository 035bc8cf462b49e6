// Splits a command that is given as one text into words. The command may have quotes as in a shell,
// but it runs without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Quotes and backslashes work as in a POSIX shell. what: the name of the text in messages, such as
// "the command of A". Throws Error if there is no word, if a quote is not closed, or if a backslash
// is at the end. Also throws Error, with a hint that names `sh -c`, for anything that needs a
// shell: pipes, redirections, variables, patterns, ~, several commands, and NAME=value before the
// program.
std::vector<std::string> command_words(std::string_view text, const std::string& what);

}  // namespace lockstep::cli
