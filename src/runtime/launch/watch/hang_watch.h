// Finds a rank that hangs, and distinguishes it from slow ranks and from ranks that wait for it.
// Its input is heartbeats (heartbeat.h) and times. It uses no process and no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// If more time than this passes between two calls of `look`, the watching process itself did not
// run. The ranks then get their full time limits again.
constexpr double own_sleep_s = 5;

struct Hang {
  int rank = 0;     // a rank that hangs; if all wait for each other, the rank that lags behind
  std::string how;  // "hangs: no sign of life for 60 s in forward of step 12; rank 1 waits in …"
};

// A rank moves when it reports anything. A rank hangs if it has not moved within a time limit,
// although it does not wait for other ranks. If all ranks wait, and none has moved within its
// limit, all ranks hang. The limit is `hang_after_s`, with these exceptions:
// - Before the rank's first step in this launch, the limit is ten times as long.
// - In the first five steps of this launch, the limit is three times as long.
// - If the longest pause between two moves of the rank was P, the limit is at least 3 P.
//
// A rank that never reported anything is ignored, unless a signal has stopped it.
class HangWatch {
 public:
  // hang_after_s: 0 disables the watch.
  HangWatch(std::size_t ranks, double hang_after_s);

  // Call it regularly. Each vector has one element per rank. stopped: a signal such as SIGSTOP has
  // stopped the process. ended: the process has ended. now_s: monotonic. Returns nothing if no rank
  // hangs.
  std::optional<Hang> look(const std::vector<Heartbeat>& heartbeats,
                           const std::vector<bool>& stopped, const std::vector<bool>& ended,
                           double now_s);

 private:
  struct Rank {
    Heartbeat heartbeat;
    double moved_s = 0;  // when it was last seen to move
    double longest_s = 0;
    std::int64_t first_step = 0;  // its first step in this launch; 0 = not seen yet
  };
  double limit_s(const Rank& rank) const;

  double hang_after_s_;
  std::optional<double> looked_s_;
  std::vector<Rank> ranks_;
};

// Describes the other ranks: "; rank 0 waits in all-reduce 5 of step 2". Leaves out ranks that have
// ended or never reported anything.
std::string describe_others(const std::vector<Heartbeat>& heartbeats,
                            const std::vector<bool>& ended, int rank);

}  // namespace lockstep
