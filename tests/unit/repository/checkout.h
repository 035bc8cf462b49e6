// The checkout that the tests of this folder look at as a whole.
#pragma once

#include "checkout_paths.h"

#include <filesystem>
#include <regex>
#include <string>
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

}  // namespace lockstep
