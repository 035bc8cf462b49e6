// Finds where another program's log was restarted from an earlier place, and which points a restart
// took back.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

struct FoundRestart {
  std::size_t first = 0;  // the point at which the series resumes
  // The first of the repeated points with the same place; equal to `first` if there are none.
  std::size_t repeated = 0;
};

// Finds restarts in a series, in order. At a restart either the place goes back, or a place occurs
// once more often than the others do. In the second case the times, if any, must show that the work
// was repeated. lines: whether a place may have several points, as an epoch has several lines.
std::vector<FoundRestart> find_restarts(const std::vector<ForeignPoint>& points, bool lines);

// Finds whether steps begin anew at least twice, each time at the same first step and after the
// same last one. Resumes and restarts hardly ever do that. Returns each row's pass, from 0;
// otherwise empty.
std::vector<double> passes_of(const std::vector<double>& steps);

// A restart on an axis that all series of a log share: row numbers, or times.
struct Restart {
  double at = 0;         // of the first point after it
  double place = 0;      // place of that point
  double repeated_from;  // from here on, earlier points of the same place are invalid
};

class Restarts {
 public:
  Restarts() = default;
  explicit Restarts(std::vector<Restart> restarts);  // in order

  bool empty() const { return restarts_.empty(); }
  const std::vector<Restart>& all() const { return restarts_; }
  // Whether a point counts, which means that no later restart resumes from an earlier place.
  bool counts(double at, double place) const;

 private:
  std::vector<Restart> restarts_;
  // for each restart, the one with the lowest place of it and all later ones
  std::vector<Restart> lowest_;
};

}  // namespace lockstep
