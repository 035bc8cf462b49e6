// A small process that outlives the launcher for a moment. It cleans up if the launcher is killed.
//
// PR_SET_PDEATHSIG kills the ranks themselves in that case. It does not reach processes that the
// ranks started in their groups, such as a shell's command or loader processes. The keeper reads
// from a pipe, in which the launcher announces the leader of each group. If the pipe is closed
// without a final message, the keeper kills these groups.
#pragma once

#include <sys/types.h>

#include "core/base/files/fd.h"

namespace lockstep {

class Keeper {
 public:
  Keeper();   // forks; throws Error
  ~Keeper();  // sends the final message: the keeper exits without killing anything
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  // Takes the pid_t of group leaders. Close-on-exec.
  int announce_fd() const { return pipe_.get(); }

 private:
  UniqueFd pipe_;
  pid_t pid_ = -1;
};

}  // namespace lockstep
