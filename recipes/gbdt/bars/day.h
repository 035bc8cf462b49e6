// Parses and prints calendar days, and points in time as price files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::gbdt {

// Days since 1970-01-01 in the proleptic Gregorian calendar.
using Day = std::int32_t;

std::optional<Day> parse_day(std::string_view text);  // nothing for other forms than "2022-01-31"
std::string to_text(Day day);                         // "2022-01-31"
int weekday(Day day);                                 // 0 is Monday, 6 is Sunday

struct Stamp {
  Day day = 0;                 // in the stamp's own time zone
  std::int64_t instant_s = 0;  // Unix seconds; a time without a zone is taken as UTC
  bool zone = false;
};

// Parses a day ("2022-01-31", "2022/01/31", "20220131"). After it may come "T" or a space with a
// time ("09:15", "09:15:00" or "09:15:00.000"), and then a zone ("Z", "+05:30", "+0530", "-05").
// Returns nothing for other texts, and for days and times that do not exist, such as February 30.
std::optional<Stamp> parse_stamp(std::string_view text);

}  // namespace lockstep::gbdt
