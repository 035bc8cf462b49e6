// Computes training time in another program's log: the time between its lines, without pauses. A
// place is a step or an epoch.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

// A clock that begins at the first point of a series. The places of the series rise, and its times
// do not go back.
class LogClock {
 public:
  // starts: the times of restarts. The gap before each restart is a pause. Gaps that are far longer
  // than the others are pauses too. A pause counts only with the usual time of the places (steps or
  // epochs) that it spans. places_per_epoch: as in ForeignLog.
  LogClock(const ForeignSeries& series, const std::vector<double>& starts, double places_per_epoch);

  bool empty() const { return times_.empty(); }  // whether the series has no times
  // Returns the seconds of training at a time of the log. The result is below 0 before the first
  // point. If a start precedes the first point, all times before that start give the same result.
  double at(double time);
  // Returns the mean seconds per place. If steps are counted anew in each epoch, gaps between
  // epochs are left out.
  std::optional<double> place_s() const;
  // Returns a text for people about the pauses, or "" if there were none. word: the name of a
  // place, such as "step"; may be empty.
  std::string pauses_text(const std::string& word) const;

 private:
  struct Pause {
    double place = 0, seconds = 0;  // the place after the pause, and the seconds that are left out
  };
  void leave_out(const std::vector<double>& places, const std::vector<bool>& pauses);
  void take_steps(const std::vector<double>& places, const std::vector<bool>& pauses,
                  double places_per_epoch);

  // times of the points: on the log's clock, and in training time
  std::vector<double> times_, trained_;
  double first_start_ = -INFINITY;  // the last start that is not after the first point
  std::size_t near_ = 0;            // index at which the previous time was found
  double steps_s_ = 0, steps_ = 0;
  std::vector<Pause> pauses_;
};

}  // namespace lockstep
