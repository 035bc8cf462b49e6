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

// A gap between the start of the first attempt and the end of the last one. No attempt with a known
// end ran in the gap.
struct BatchGap {
  double begin = 0, end = 0;  // unix seconds
  bool paused = false;  // whether the batch was paused for most of the gap; false if it was stopped
};

struct RunningTime {
  // The times in which the batch ran, in unix seconds, sorted and without overlaps. Empty if no job
  // has ended.
  std::vector<Stretch> stretches;
  // requested pauses, in the same form; jobs may have run during pauses
  std::vector<Stretch> pauses;
  // whether there are lost attempts: their end is unknown, so they are in no stretch
  bool has_lost = false;

  double seconds() const { return length(stretches); }
  double begin() const { return stretches.front().first; }
  double end() const { return stretches.back().second; }
  std::vector<BatchGap> gaps() const;
};

// A supervisor is a process that starts jobs. The batch runs from the start of a supervisor's first
// attempt to the end of its last one. Pauses in which no job ran are left out. If a supervisor was
// killed, its time ends with the last end of an attempt that was recorded.
RunningTime running_time(Ledger& ledger);
// Returns the time of a batch whose parts have their own ledgers. The batch runs while any part
// runs.
RunningTime running_time(const std::vector<RunningTime>& parts);

// Returns "stopped once, for 12.3 s", or "stopped 2 times and paused once, for 12.3 s in all".
// Returns "" for an empty list.
std::string gaps_text(const std::vector<BatchGap>& gaps);

}  // namespace lockstep
