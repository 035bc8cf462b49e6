// The time in which a batch was running, without the time in which it was stopped or paused.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class Ledger;

using Stretch = std::pair<double, double>;  // begin and end, in seconds

// Stretches that overlap or touch become one; sorted by begin.
std::vector<Stretch> merged(std::vector<Stretch> stretches);
double length(const std::vector<Stretch>& stretches);

// A time between the first start and the last end in which no job with a known end ran.
struct BatchGap {
  double begin = 0, end = 0;  // unix seconds
  bool paused = false;        // else it was stopped
};

struct RunningTime {
  // Unix seconds, sorted, without overlaps. Empty: no job has ended.
  std::vector<Stretch> stretches;
  std::vector<Stretch> pauses;  // likewise: pauses by request; jobs may have run in them
  bool has_lost = false;        // attempts without a known end, which are in no stretch

  double seconds() const { return length(stretches); }
  double begin() const { return stretches.front().first; }
  double end() const { return stretches.back().second; }
  std::vector<BatchGap> gaps() const;
};

// For each process that started jobs: from the first start to the last end of its attempts, without
// the pauses in which no job ran. If such a process was killed, its time ends with the last end
// that it recorded.
RunningTime running_time(Ledger& ledger);
// For a batch whose parts have their own ledgers. It runs while any part runs.
RunningTime running_time(const std::vector<RunningTime>& parts);

// "stopped once, for 12.3 s" or "stopped 2 times and paused once, for 12.3 s in all"; "": never.
std::string gaps_text(const std::vector<BatchGap>& gaps);

}  // namespace lockstep
