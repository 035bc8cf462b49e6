// Finds a rank that hangs, and tells it from slow ranks and from ranks that wait for it. Its input
// is heartbeats and times, and its output is a verdict. It uses no process and no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// If more time than this passes between two looks, the watcher itself was asleep. It then knows
// nothing about the ranks.
constexpr double own_sleep_s = 5;

struct Hang {
  int rank = 0;     // the rank to name: one that waits for no other, or the one that lags behind
  std::string how;  // "hangs: no sign of life for 60 s in forward of step 12; rank 1 waits in …"
};

// A rank hangs if it has not moved for the time limit although it waits for no other rank. All
// ranks hang if all of them wait for each other for that long. The limit is `hang_after_s`, with
// these exceptions:
// - Before the first step of a start, it is ten times as long.
// - In the first five steps, it is three times as long.
// - For a rank whose longest pause between two moves is P, it is at least 3 P.
//
// Ranks that never reported anything are ignored, unless a signal has stopped them.
class HangWatch {
 public:
  // hang_after_s: 0 disables the watch.
  HangWatch(std::size_t ranks, double hang_after_s);

  // All arguments are by rank. stopped: a signal such as SIGSTOP has stopped the process. ended:
  // the process is gone.
  std::optional<Hang> look(const std::vector<Heartbeat>& heartbeats,
                           const std::vector<bool>& stopped, const std::vector<bool>& ended,
                           double now_s);

 private:
  struct Rank {
    Heartbeat heartbeat;
    double moved_s = 0;  // when it was last seen to move
    double longest_s = 0;
    std::int64_t first_step = 0;  // its first step in this start; 0 = not seen yet
  };
  double limit_s(const Rank& rank) const;

  double hang_after_s_;
  std::optional<double> looked_s_;
  std::vector<Rank> ranks_;
};

// The state of the ranks other than `rank`: "; rank 0 waits in all-reduce 5 of step 2". Empty if
// none of them reports anything.
std::string describe_others(const std::vector<Heartbeat>& heartbeats,
                            const std::vector<bool>& ended, int rank);

}  // namespace lockstep
