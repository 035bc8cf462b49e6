// Paths by shell patterns: `*`, `?` and `[ ]` match characters of one name, and `\` quotes a
// character. Only patterns that begin with a dot match names that do.
#pragma once

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_path_pattern_bytes = std::size_t{2} * PATH_MAX;

// Throws Error for a pattern that is longer than that.
void check_path_pattern(const std::string& pattern);

// Existing paths that match the pattern, sorted. If links lead to a folder on several paths, it is
// read once, by a path without a link if there is one. So a folder that links to one above it does
// not loop, and no folder is read twice for one part of the pattern. Unreadable folders count as
// empty. Throws Error as above.
std::vector<std::string> paths_matching(const std::string& pattern);

}  // namespace lockstep
