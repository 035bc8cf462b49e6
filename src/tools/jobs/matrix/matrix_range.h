// Makes the values of a parameter from a range of numbers or dates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Returns from, from + step, … up to and including `to`. The values are exact in decimals: 0.1,
// 0.2, 0.3. A negative step counts down. Throws Error for a text that is not a number, for a step
// of 0, and for a step away from `to`. Also throws Error for more than `most_jobs` values.
std::vector<std::string> number_range(std::string_view from, std::string_view to,
                                      std::string_view step);

// Returns days such as "2022-01-31", up to and including `to`. Steps are written "1d", "2w", "1mo"
// or "1y". Steps in months are counted from the day `from`. If a month lacks that day of the month,
// its last day is used. Throws Error as number_range() does.
std::vector<std::string> date_range(std::string_view from, std::string_view to,
                                    std::string_view step);

bool is_date(std::string_view text);  // whether the text is an existing day, "2022-01-31"

}  // namespace lockstep
