// Which column of a log tells the time, and the times of its rows.
#pragma once

#include <string>
#include <vector>

#include "report/foreign_log.h"
#include "report/log_restarts.h"

namespace lockstep {

struct TableTimes {
  std::vector<double> by_row;  // seconds, as they stand in the rows; empty: nothing is known
  const ForeignColumn* durations = nullptr;  // a column of that kind that is no clock, but values
  std::string caution;                       // why nothing is known, or what was guessed; or ""
};

// A column whose name may mean a clock or how long each line took (time, seconds) is a clock where
// it counts from the beginning of the log, or since 1970: without its longest gap, its least value
// is not above twice a gap, or it at least doubles. Below that it is not known which it is, but for
// a column that rises in 30 lines or more. A clock beside it comes first.
TableTimes table_times(const ForeignTable& table);

// Makes one clock of seconds that begin anew with each start: at restarts, whose places are those
// of rows, and where few of them begin anew although the places go on, but not with each epoch.
// Returns the times of the rows at which it was started anew. epochs: of rows, or empty.
struct ClockStarts {
  std::vector<double> times;
  std::size_t anew = 0;  // of these, places went on
};
ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts);

}  // namespace lockstep
