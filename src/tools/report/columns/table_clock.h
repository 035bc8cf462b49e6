// Finds the column of a log that holds times, and the times of its rows.
#pragma once

#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/log_restarts.h"

namespace lockstep {

struct TableTimes {
  std::vector<double> by_row;  // seconds for each row; empty if unknown
  // a column that is named like a time but holds durations; null if there is none
  const ForeignColumn* durations = nullptr;
  std::string caution;  // why the times are unknown, or what was guessed; may be empty
};

// Finds the times of the rows. A column with a name like time or seconds may be a clock, or hold
// the duration of each line. It is a clock if it counts since 1970 or from the start of the log. It
// counts from the start of the log in two cases, in which its longest gap is ignored:
//   - its least value is at most twice its longest other gap
//   - its largest value is at least twice its least value
// In other cases, it is a clock if it rises in all of 30 lines or more. Otherwise its kind is
// unknown. A separate clock column takes precedence.
TableTimes table_times(const ForeignTable& table);

// Makes one clock of times in seconds that begin again at each start. Times begin again at
// restarts, whose `at` is a row. They may also do so at a few other rows where the steps or epochs
// continue, but not at each epoch. Returns the times of the rows at which the log was restarted.
// places: the step or epoch of each row. epochs: a value for each row, or empty.
struct ClockStarts {
  std::vector<double> times;
  std::size_t anew = 0;  // how many of these times are at rows where the steps or epochs continue
};
ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts);

}  // namespace lockstep
