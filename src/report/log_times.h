// Times as people and programs write them into logs.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep {

// Three years: more seconds than any log counts from its own beginning. What is more counts since
// 1970.
inline constexpr double longest_elapsed_s = 1e8;

// Seconds: of a date with a time since 1970 ("2026-01-31T09:30:00.25+01:00", "2026/01/31 09:30",
// "31.01.2026 09:30:00", with T or a blank, seconds and their fraction behind a point or a comma,
// Z, UTC or an offset; without a zone as if it were UTC), and of a duration ("1:02:03.5",
// "2 days 01:02:03"). Nothing for anything else, and for dates of which the order of day and month
// is not known (01/02/2026).
std::optional<double> seconds_of_text(std::string_view text);

}  // namespace lockstep
