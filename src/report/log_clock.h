// Training time within a log of another program: the time between its lines, without the pauses.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "report/foreign_log.h"

namespace lockstep {

// From the first point of a series, whose places rise and whose times do not go back.
class LogClock {
 public:
  // starts: when it was started anew. What lies before each, and gaps far outside the rest, are
  // pauses: there only the usual time of as many places passes. places_per_epoch as in ForeignLog.
  LogClock(const ForeignSeries& series, const std::vector<double>& starts, double places_per_epoch);

  bool empty() const { return times_.empty(); }  // the series has no times
  // Seconds of training at a time of the log; below 0 before the first point, but for the time
  // before a start that lies between.
  double at(double time);
  // Mean seconds from one place to the next, within epochs where these count anew.
  std::optional<double> place_s() const;
  // For people; "": there were no pauses. word: of places, "step"; "": none.
  std::string pauses_text(const std::string& word) const;

 private:
  struct Pause {
    double place = 0, seconds = 0;  // before which, and what is left out
  };
  void leave_out(const std::vector<double>& places, const std::vector<bool>& pauses);
  void take_steps(const std::vector<double>& places, const std::vector<bool>& pauses,
                  double places_per_epoch);

  std::vector<double> times_, trained_;  // of the points: on the log's clock, and of training
  double first_start_ = -INFINITY;       // the last one that is not behind the first point
  std::size_t near_ = 0;                 // where the last time was found
  double steps_s_ = 0, steps_ = 0;
  std::vector<Pause> pauses_;
};

}  // namespace lockstep
