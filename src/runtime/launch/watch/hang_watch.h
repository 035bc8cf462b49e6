// Tells a hanging rank from slow ranks and from ranks that wait for it. Heartbeats and times go in,
// a verdict comes out. It uses no process and no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// A watcher that did not look for longer than this has slept itself, and knows nothing of the
// ranks.
constexpr double own_sleep_s = 5;

struct Hang {
  int rank = 0;     // the rank to name: it waits for nobody, or lags behind the others
  std::string how;  // "hangs: no sign of life for 60 s in forward of step 12; rank 1 waits in …"
};

// A rank hangs when it has not moved for `hang_after_s` while it waits for nobody. Ranks also hang
// when all wait for each other. A rank whose longest move took more than a third of that time gets
// three times its longest move. Before the first step of a start all ranks get ten times as long,
// and in the first five steps three times. Ranks that never reported anything are ignored.
class HangWatch {
 public:
  // hang_after_s: 0 disables the watch.
  HangWatch(std::size_t ranks, double hang_after_s);

  // All by rank. stopped: a signal has stopped the rank's process. ended: the process is gone.
  std::optional<Hang> look(const std::vector<Heartbeat>& heartbeats,
                           const std::vector<bool>& stopped, const std::vector<bool>& ended,
                           double now_s);

 private:
  struct Rank {
    Heartbeat heartbeat;
    double moved_s = 0;  // when it was last seen to move
    double longest_s = 0;
    std::int64_t first_step = 0;  // its first step in this start; 0: not seen yet
  };
  double limit_s(const Rank& rank) const;

  double hang_after_s_;
  std::optional<double> looked_s_;
  std::vector<Rank> ranks_;
};

// The state of the ranks other than `rank`: "; rank 0 waits in all-reduce 5 of step 2". "" if
// none reports anything.
std::string describe_others(const std::vector<Heartbeat>& heartbeats,
                            const std::vector<bool>& ended, int rank);

}  // namespace lockstep
