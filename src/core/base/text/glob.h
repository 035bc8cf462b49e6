// Patterns over names: `*` matches any characters, dots too; `?` matches one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

bool glob_matches(std::string_view pattern, std::string_view text);
bool any_matches(std::span<const std::string> patterns, std::string_view text);

// The text that each `*` of the pattern matches, in order. Each match but the last is as short as
// possible. Nothing if the pattern does not match.
std::optional<std::vector<std::string>> glob_captures(std::string_view pattern,
                                                      std::string_view text);

// Renames the text by a pair of patterns: the match of each `*` in `from` replaces the `*` at the
// same position in `to`. Nothing if `from` does not match. `to` must not have more `*` than `from`.
std::optional<std::string> glob_renamed(std::string_view from, std::string_view to,
                                        std::string_view text);

// A sentence that suggests what a pattern without a match could have meant, given the dotted names;
// "" if there are no names.
std::string hint_for_pattern(std::string_view pattern, std::span<const std::string> names);

}  // namespace lockstep
