// Computes the time in which a batch ran, without the time in which it was stopped or paused.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class Ledger;

using Stretch = std::pair<double, double>;  // begin and end, in seconds

// Joins stretches that overlap or touch. The result is sorted by begin.
std::vector<Stretch> merged(std::vector<Stretch> stretches);
double length(const std::vector<Stretch>& stretches);

// A gap between the first start and the last end, in which no job ran whose end is known.
struct BatchGap {
  double begin = 0, end = 0;  // unix seconds
  bool paused = false;        // true if it was mostly paused, false if it was stopped
};

struct RunningTime {
  // The times in which it ran, in unix seconds, sorted and without overlaps. Empty if no job has
  // ended.
  std::vector<Stretch> stretches;
  std::vector<Stretch> pauses;  // requested pauses, in the same form; jobs may have run in them
  bool has_lost = false;        // whether there are lost attempts, which are in no stretch

  double seconds() const { return length(stretches); }
  double begin() const { return stretches.front().first; }
  double end() const { return stretches.back().second; }
  std::vector<BatchGap> gaps() const;
};

// A process that starts jobs counts from the first start to the last end of its attempts. Pauses in
// which no job ran are left out. If such a process was killed, its time ends with the last end that
// was recorded.
RunningTime running_time(Ledger& ledger);
// For a batch whose parts have their own ledgers. The batch runs while any part runs.
RunningTime running_time(const std::vector<RunningTime>& parts);

// Returns "stopped once, for 12.3 s", or "stopped 2 times and paused once, for 12.3 s in all".
// Returns "" if there are no gaps.
std::string gaps_text(const std::vector<BatchGap>& gaps);

}  // namespace lockstep
