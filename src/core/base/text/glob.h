// Patterns for names. `*` matches any characters, including dots; `?` matches one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

bool glob_matches(std::string_view pattern, std::string_view text);
bool any_matches(std::span<const std::string> patterns, std::string_view text);

// The text that each `*` of the pattern matches, in order. All matches except the last are as short
// as possible. Nothing if the pattern does not match.
std::optional<std::vector<std::string>> glob_captures(std::string_view pattern,
                                                      std::string_view text);

// Renames the text with a pair of patterns. The match of each `*` in `from` replaces the `*` at the
// same position in `to`. Nothing if `from` does not match. `to` must not have more `*` than `from`.
std::optional<std::string> glob_renamed(std::string_view from, std::string_view to,
                                        std::string_view text);

// A sentence that suggests names for a pattern that matches nothing. names: the dotted names that
// exist. Empty if there are none.
std::string hint_for_pattern(std::string_view pattern, std::span<const std::string> names);

}  // namespace lockstep
