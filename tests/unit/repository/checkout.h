// The checkout that the tests of this folder look at as a whole.
#pragma once

#include "checkout_paths.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

inline const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;

// Of each match the whole (group 0) or a group.
inline std::vector<std::string> found(const std::string& text, const std::string& pattern,
                                      int group) {
  const std::regex regex(pattern);
  return {std::sregex_token_iterator(text.begin(), text.end(), regex, group),
          std::sregex_token_iterator()};
}

// The same of the lines alone that hold one of the words: of whole pages a regular expression takes
// seconds.
inline std::vector<std::string> found_beside(const std::vector<std::string>& words,
                                             const std::string& text, const std::string& pattern) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    if (std::any_of(words.begin(), words.end(),
                    [line](const std::string& word) { return line.find(word) != line.npos; }))
      lines += std::string(line) + "\n";
    begin = end + 1;
  }
  return lines.empty() ? std::vector<std::string>{} : found(lines, pattern, 0);
}

}  // namespace lockstep
