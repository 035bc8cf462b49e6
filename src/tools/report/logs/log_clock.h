// Training time in another program's log: the time between its lines, without pauses.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

// Counts from the first point of a series, whose places rise and whose times do not go back.
class LogClock {
 public:
  // starts: the times of restarts. The time before each start is a pause, and so are gaps far
  // outside the rest. A pause counts as the usual time of as many places. places_per_epoch: as in
  // ForeignLog.
  LogClock(const ForeignSeries& series, const std::vector<double>& starts, double places_per_epoch);

  bool empty() const { return times_.empty(); }  // the series has no times
  // Seconds of training at a time of the log. Below 0 before the first point, where time before a
  // start does not count.
  double at(double time);
  // Mean seconds per place. If places count anew in each epoch, the mean is taken within epochs.
  std::optional<double> place_s() const;
  // Text for people about the pauses; "" if there were none. word: the name of places, "step"; "":
  // none.
  std::string pauses_text(const std::string& word) const;

 private:
  struct Pause {
    double place = 0, seconds = 0;  // the place after the pause, and the seconds left out
  };
  void leave_out(const std::vector<double>& places, const std::vector<bool>& pauses);
  void take_steps(const std::vector<double>& places, const std::vector<bool>& pauses,
                  double places_per_epoch);

  std::vector<double> times_, trained_;  // of the points: on the log's clock, and in training time
  double first_start_ = -INFINITY;       // the last start that is not after the first point
  std::size_t near_ = 0;                 // where the previous time was found
  double steps_s_ = 0, steps_ = 0;
  std::vector<Pause> pauses_;
};

}  // namespace lockstep
