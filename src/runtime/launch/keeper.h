// A small process that kills the ranks' processes if the launcher is killed.
//
// If the launcher is killed, PR_SET_PDEATHSIG kills the ranks themselves. It does not reach
// processes that the ranks started, such as a shell's command or data loaders. The keeper reads the
// process ids of the ranks' group leaders from a pipe. If the pipe is closed and no final message
// came, the launcher was killed. The keeper then kills all processes in these groups.
#pragma once

#include <sys/types.h>

#include "core/base/files/fd.h"

namespace lockstep {

class Keeper {
 public:
  Keeper();   // forks the keeper; throws Error if that fails
  ~Keeper();  // sends the final message: the keeper exits without killing anything
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  // The end of the pipe to which the pid_t of each group leader is written. Close-on-exec.
  int announce_fd() const { return pipe_.get(); }

 private:
  UniqueFd pipe_;
  pid_t pid_ = -1;
};

}  // namespace lockstep
