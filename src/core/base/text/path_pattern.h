// Finds paths by shell patterns. `*`, `?` and `[ ]` match characters between two slashes, and `\`
// quotes a character. A name that begins with a dot matches only if its part of the pattern begins
// with a dot.
#pragma once

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_path_pattern_bytes = std::size_t{2} * PATH_MAX;

// Throws Error if the pattern has more than most_path_pattern_bytes.
void check_path_pattern(const std::string& pattern);

// Returns the existing paths that match the pattern, sorted. Links may lead to the same folder by
// several paths. For each part of the pattern, the folder is searched only once, if possible by a
// path without a link. So a link to a parent folder causes no endless search. Unreadable folders
// count as empty. Throws Error if check_path_pattern does.
std::vector<std::string> paths_matching(const std::string& pattern);

}  // namespace lockstep
