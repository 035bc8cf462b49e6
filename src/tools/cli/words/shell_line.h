// A command line in bash while it is typed. Nothing in it is ever evaluated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct ShellLine {
  std::vector<std::string> words;  // without quotes and backslashes; the last is being typed
  char quote = 0;                  // ' or " if the last word is inside one
  std::size_t break_at = 0;        // bytes of the last word before the part that readline completes
};

// breaks: bash's COMP_WORDBREAKS, the characters after which readline begins a word.
ShellLine split_line(std::string_view line, std::string_view breaks);

// The text that readline must insert in place of the last word so that bash reads `word`. Nothing
// if it cannot be written inside the quotes.
std::optional<std::string> completed_word(const ShellLine& line, std::string_view word);

}  // namespace lockstep::cli
