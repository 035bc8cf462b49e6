// Splits a bash command line while it is typed. Nothing in it is ever evaluated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct ShellLine {
  // the words without quotes and backslashes; the last word is being typed
  std::vector<std::string> words;
  char quote = 0;  // the open quote (' or ") around the last word, or 0
  // number of bytes of the last word that precede the part that readline completes
  std::size_t break_at = 0;
};

// breaks: bash's COMP_WORDBREAKS, the characters after which readline begins a new word.
ShellLine split_line(std::string_view line, std::string_view breaks);

// Returns the text that readline must insert so that bash reads `word` as the last word. Returns
// nothing if `word` cannot be written inside the open quotes.
std::optional<std::string> completed_word(const ShellLine& line, std::string_view word);

}  // namespace lockstep::cli
