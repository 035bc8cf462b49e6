// Where a log of another program was started anew from an earlier place, and what that took back.
#pragma once

#include <cstddef>
#include <vector>

#include "report/foreign_log.h"

namespace lockstep {

struct FoundRestart {
  std::size_t first = 0;  // point of the series with which it goes on
  // The first point of the same place that is done once more; `first`: there is none.
  std::size_t repeated = 0;
};

// Restarts that a series tells of, in order: its place goes back; or a place comes once more than
// the others do, where times, if it has any, say that the work was done anew. lines: a place may
// have several points, as an epoch has lines.
std::vector<FoundRestart> find_restarts(const std::vector<ForeignPoint>& points, bool lines);

// Where steps begin anew at least twice, at the same first step and after the same last one, which
// resumes and restarts hardly ever do: rows by pass, from 0. Else empty.
std::vector<double> passes_of(const std::vector<double>& steps);

// A restart on an axis that all series of a log share: numbers of rows, or times.
struct Restart {
  double at = 0;         // of the first point behind it
  double place = 0;      // of that point
  double repeated_from;  // points of that very place do not count from here on
};

class Restarts {
 public:
  Restarts() = default;
  explicit Restarts(std::vector<Restart> restarts);  // in order

  bool empty() const { return restarts_.empty(); }
  const std::vector<Restart>& all() const { return restarts_; }
  // Whether a point counts: no later restart goes on from an earlier place.
  bool counts(double at, double place) const;

 private:
  std::vector<Restart> restarts_;
  std::vector<Restart> lowest_;  // of each restart and those behind it
};

}  // namespace lockstep
