// Paths by patterns as the shell has them: `*`, `?` and `[ ]` stand for characters of one name,
// `\` takes a character as it is, and names that begin with a dot are found by patterns that do.
#pragma once

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_path_pattern_bytes = std::size_t{2} * PATH_MAX;

// Throws Error for a pattern that is longer than that.
void check_path_pattern(const std::string& pattern);

// What is there of that pattern, sorted. A folder to which several paths lead on the way, because
// of links, is looked into once, by a path without a link before others: so a folder that links to
// one above it ends, and no folder is read more than once for each part of the pattern. Folders
// that cannot be read hold nothing. Throws Error as above.
std::vector<std::string> paths_matching(const std::string& pattern);

}  // namespace lockstep
