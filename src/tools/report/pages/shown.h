// Formats numbers and times for pages.
#pragma once

#include <string>

namespace lockstep {

// returns "120 ms", "45 s" or "2h41m"; "unknown" if the number is not finite
std::string shown_seconds(double seconds);
std::string shown_time(double unix_s);   // "2026-01-31 09:30:00" in local time
std::string shown_count(double value);   // "203k"
std::string shown_number(double value);  // "3.214", "123457"; "not finite" for NaN and infinity
std::string shown_rate(double value);    // at least three digits: "3.14", "3628"

}  // namespace lockstep
