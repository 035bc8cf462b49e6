// Parses times in the forms in which people and programs write them into logs.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep {

// About three years, which is longer than any log counts from its own start. Larger values are
// seconds since 1970.
inline constexpr double longest_elapsed_s = 1e8;

// Parses a date or a duration to seconds.
//
// A date gives seconds since 1970, with or without a time: "2026-01-31T09:30:00.25+01:00",
// "2026/01/31 09:30", "31.01.2026 09:30:00". T or a blank separates date and time. A fraction
// follows a point or a comma. The zone is Z, UTC, GMT or an offset, and UTC if there is none.
//
// A duration gives its seconds: "1:02:03.5", "2 days 01:02:03". Returns nothing for anything else,
// and for dates whose order of day and month is ambiguous (01/02/2026).
std::optional<double> seconds_of_text(std::string_view text);

}  // namespace lockstep
