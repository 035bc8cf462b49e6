// Numbers and times as pages show them.
#pragma once

#include <string>

namespace lockstep {

std::string shown_seconds(double seconds);  // "120 ms", "45 s", "2h41m"; "unknown"
std::string shown_time(double unix_s);      // "2026-01-31 09:30:00", local time of this program
std::string shown_count(double value);      // "203k"
std::string shown_number(double value);     // "3.214", "123457"; "not finite"
std::string shown_rate(double value);       // three digits, or all before the point: "3.14", "3628"

}  // namespace lockstep
