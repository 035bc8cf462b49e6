// Finds the column of a log that holds times, and the times of its rows.
#pragma once

#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/log_restarts.h"

namespace lockstep {

struct TableTimes {
  std::vector<double> by_row;                // seconds, as in the rows; empty: unknown
  const ForeignColumn* durations = nullptr;  // a column with such a name that holds durations, not
                                             // a clock
  std::string caution;                       // why the times are unknown, or what was guessed; or
                                             // ""
};

// A column named like time or seconds may be a clock, or hold each line's duration. It is a clock
// if it counts since 1970 or from the start of the log. The latter holds if, ignoring the longest
// gap, its least value is at most twice a gap, or its values at least double. Otherwise its kind is
// unknown, unless it rises over 30 lines or more. A separate clock column takes precedence.
TableTimes table_times(const ForeignTable& table);

// Makes one clock of times in seconds that begin anew at each start. They begin anew at restarts,
// whose `at` is a row. They may also do so at a few other rows where the places continue, but not
// at each epoch. Returns the times of the rows where the log was restarted. epochs: a value per
// row, or empty.
struct ClockStarts {
  std::vector<double> times;
  std::size_t anew = 0;  // how many of these are at rows where the places continue
};
ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts);

}  // namespace lockstep
