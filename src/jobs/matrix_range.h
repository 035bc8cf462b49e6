// Values of a parameter that are counted up: numbers and dates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// from, from + step, … up to and with `to`; exact in decimals: 0.1, 0.2, 0.3. A negative step
// counts down. Throws Error: no numbers, a step of 0, a wrong direction, too many (most_jobs).
std::vector<std::string> number_range(std::string_view from, std::string_view to,
                                      std::string_view step);

// Days as "2022-01-31", up to and with `to`. The step: "1d", "2w", "1mo", "1y"; months count from
// the first day, and a day that a month lacks is its last one. Throws Error likewise.
std::vector<std::string> date_range(std::string_view from, std::string_view to,
                                    std::string_view step);

bool is_date(std::string_view text);  // "2022-01-31", a day that there is

}  // namespace lockstep
