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

// A column named like time or seconds may be a clock, or each line's duration. It is a clock if it
// counts from the start of the log or since 1970. Counting from the start means, ignoring its
// longest gap, that its least value is at most twice a gap, or that it at least doubles. Otherwise
// its kind is unknown, unless it rises over 30 lines or more. A separate clock column takes
// precedence.
TableTimes table_times(const ForeignTable& table);

// Makes one clock of seconds that begin anew at each start. They do so at restarts, whose places
// are rows. They may also do so at a few other rows where the places continue, but not at each
// epoch. Returns the times of the rows where the log was restarted. epochs: of rows, or empty.
struct ClockStarts {
  std::vector<double> times;
  std::size_t anew = 0;  // how many of these without a restart of the places
};
ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts);

}  // namespace lockstep
