// Parses times as people and programs write them into logs.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep {

// Three years: more seconds than any log counts from its own start. Larger values count since 1970.
inline constexpr double longest_elapsed_s = 1e8;

// Parses to seconds. A date with a time gives seconds since 1970: "2026-01-31T09:30:00.25+01:00",
// "2026/01/31 09:30", "31.01.2026 09:30:00". It may have T or a blank, a fraction after a point or
// a comma, and Z, UTC or an offset; without a zone it is UTC. A duration gives seconds:
// "1:02:03.5", "2 days 01:02:03". Nothing for anything else, and for dates whose order of day and
// month is ambiguous (01/02/2026).
std::optional<double> seconds_of_text(std::string_view text);

}  // namespace lockstep
