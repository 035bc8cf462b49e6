// Telling a rank that hangs from ranks that are slow and from those that wait for it. Heartbeats
// and times go in, a verdict comes out; no process, no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launch/heartbeat.h"

namespace lockstep {

// Who was not looking for longer than this has slept itself, and knows nothing of the ranks.
constexpr double own_sleep_s = 5;

struct Hang {
  int rank = 0;     // the one to name: it waits for nobody, or is behind the others
  std::string how;  // "hangs: no sign of life for 60 s in forward of step 12; rank 1 waits in …"
};

// A rank hangs when it has not moved for `hang_after_s` while it waits for nobody, or when all wait
// for each other. Whoever once took longer for one move than a third of that gets three times as
// long as it took; before a start's first step all get ten times as long, in its first five three
// times. Ranks that never said anything
// are left alone.
class HangWatch {
 public:
  // hang_after_s: 0 watches nothing.
  HangWatch(std::size_t ranks, double hang_after_s);

  // stopped: the rank's process is stopped by a signal. ended: it is gone. By rank.
  std::optional<Hang> look(const std::vector<Heartbeat>& heartbeats,
                           const std::vector<bool>& stopped, const std::vector<bool>& ended,
                           double now_s);

 private:
  struct Rank {
    Heartbeat heartbeat;
    double moved_s = 0;  // when it was seen to
    double longest_s = 0;
    std::int64_t first_step = 0;  // of this start; 0: not seen yet
  };
  double limit_s(const Rank& rank) const;

  double hang_after_s_;
  std::optional<double> looked_s_;
  std::vector<Rank> ranks_;
};

// What the ranks other than `rank` were doing: "; rank 0 waits in all-reduce 5 of step 2"; "" where
// nobody says anything.
std::string describe_others(const std::vector<Heartbeat>& heartbeats,
                            const std::vector<bool>& ended, int rank);

}  // namespace lockstep
