// Patterns over names: `*` stands for any characters, dots too, `?` for one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

bool glob_matches(std::string_view pattern, std::string_view text);
bool any_matches(std::span<const std::string> patterns, std::string_view text);

// What each `*` of the pattern stands for in the text, in order, as short as may be for all but the
// last; nothing where the pattern does not match.
std::optional<std::vector<std::string>> glob_captures(std::string_view pattern,
                                                      std::string_view text);

// The text by the pair of patterns: what a `*` of `from` stands for takes the place of the `*` of
// `to` in the same place. Nothing where `from` does not match. `to` has no more of them.
std::optional<std::string> glob_renamed(std::string_view from, std::string_view to,
                                        std::string_view text);

// A sentence on what a pattern that matches none of these dotted names could have meant; "" where
// there are none.
std::string hint_for_pattern(std::string_view pattern, std::span<const std::string> names);

}  // namespace lockstep
