// Values of a parameter from a range of numbers or dates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// from, from + step, … up to and including `to`, exact in decimals: 0.1, 0.2, 0.3. A negative step
// counts down. Throws Error for texts that are not numbers, a step of 0, a step in the wrong
// direction, or too many values (most_jobs).
std::vector<std::string> number_range(std::string_view from, std::string_view to,
                                      std::string_view step);

// Days as "2022-01-31", up to and including `to`. Steps are "1d", "2w", "1mo", "1y". Months count
// from the first day, and a day that a month lacks becomes the last one of that month. Throws Error
// as number_range does.
std::vector<std::string> date_range(std::string_view from, std::string_view to,
                                    std::string_view step);

bool is_date(std::string_view text);  // "2022-01-31", an existing day

}  // namespace lockstep
