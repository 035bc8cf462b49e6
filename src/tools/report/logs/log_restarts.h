// Finds where another program's log was restarted from an earlier place, and the points that a
// restart discarded. A place is a step or an epoch.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

struct FoundRestart {
  std::size_t first = 0;  // index of the point at which the series resumes
  // Index of the first earlier point of the same place that the restart repeated. It equals `first`
  // if no such point was repeated.
  std::size_t repeated = 0;
};

// Finds the restarts in a series, in order. At a restart, the place goes back, or one place has
// more points than most places have. In the second case, if there are times, they must show that
// the work was repeated. lines: whether a place may have several points, as an epoch may have
// several lines.
std::vector<FoundRestart> find_restarts(const std::vector<ForeignPoint>& points, bool lines);

// Finds whether steps are counted from the beginning at least three times, as in each epoch. Each
// such pass must begin at the same step, and all but the last pass must end at the same step.
// Passes that resumes and restarts cause hardly ever do that. Returns the index of the pass of each
// row, from 0. Returns an empty list if there are no such passes.
std::vector<double> passes_of(const std::vector<double>& steps);

// A restart on an axis that all series of a log share: row numbers or times.
struct Restart {
  double at = 0;     // row or time of the first point after the restart
  double place = 0;  // place of that point
  // Points of the same place from this row or time on, but before the restart, are invalid.
  double repeated_from;
};

class Restarts {
 public:
  Restarts() = default;
  explicit Restarts(std::vector<Restart> restarts);  // restarts: in order

  bool empty() const { return restarts_.empty(); }
  const std::vector<Restart>& all() const { return restarts_; }
  // Whether a point still counts. It does not if a later restart resumes from an earlier place. If
  // a later restart resumes at the same place, it counts only if it lies before `repeated_from`.
  bool counts(double at, double place) const;

 private:
  std::vector<Restart> restarts_;
  // for each restart: the restart with the lowest place among this and all later ones
  std::vector<Restart> lowest_;
};

}  // namespace lockstep
