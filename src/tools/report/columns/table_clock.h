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
// counts from the start of the log if one of these holds for it, without its longest gap:
//   - its least value is at most twice its longest remaining gap
//   - its largest value is at least twice its least value
// If neither holds, it is a clock if it rises in all of 30 lines or more. If it does not rise so,
// it is unknown whether it is a clock. A column of clock_columns() takes precedence over such a
// column.
TableTimes table_times(const ForeignTable& table);

// Makes one clock from times in seconds that begin again at each start. Times begin again at
// restarts, whose `at` is a row. They may also begin again at a few rows where the steps or epochs
// continue, but not at each epoch. Returns the times of the rows at which the log was restarted.
// places: the step or epoch of each row. epochs: a value for each row, or empty.
struct ClockStarts {
  std::vector<double> times;
  std::size_t anew = 0;  // how many of `times` are at rows where the steps or epochs continue
};
ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts);

}  // namespace lockstep
