// Patterns for names. `*` matches any number of characters, including dots; `?` matches one
// character.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

bool glob_matches(std::string_view pattern, std::string_view text);
bool any_matches(std::span<const std::string> patterns, std::string_view text);

// Returns the text that each `*` of the pattern matches, in order. All of these except the last are
// as short as possible. Returns nothing if the pattern does not match.
std::optional<std::vector<std::string>> glob_captures(std::string_view pattern,
                                                      std::string_view text);

// Renames the text with a pair of patterns: the text that the n-th `*` of `from` matches replaces
// the n-th `*` of `to`. Returns nothing if `from` does not match. `to` must not have more `*` than
// `from`.
std::optional<std::string> glob_renamed(std::string_view from, std::string_view to,
                                        std::string_view text);

// Returns a sentence that suggests names, for a pattern that matches none. names: the dotted names
// that exist. Empty if `names` is empty.
std::string hint_for_pattern(std::string_view pattern, std::span<const std::string> names);

}  // namespace lockstep
