// Finds paths by shell patterns. `*`, `?` and `[ ]` match characters of one name, and `\` quotes a
// character. A name that begins with a dot matches only a pattern that begins with a dot.
#pragma once

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_path_pattern_bytes = std::size_t{2} * PATH_MAX;

// Throws Error for a longer pattern.
void check_path_pattern(const std::string& pattern);

// The existing paths that match the pattern, sorted. If links make a folder reachable by several
// paths, it is read only once per part of the pattern, by a path without a link if there is one. So
// a link to a parent folder causes no loop. Unreadable folders count as empty. Throws Error for a
// pattern that check_path_pattern refuses.
std::vector<std::string> paths_matching(const std::string& pattern);

}  // namespace lockstep
