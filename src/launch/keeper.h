// A small process that outlives the launcher just long enough to end what a killed launcher left.
//
// PR_SET_PDEATHSIG ends the ranks themselves; what they started in their process groups (a shell's
// command, loader processes) it does not reach. The keeper waits on a pipe; when every writer is
// gone without a farewell, it kills the groups whose leaders were announced there.
#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace lockstep {

class Keeper {
 public:
  Keeper();   // forks; throws Error
  ~Keeper();  // says farewell: the keeper leaves without killing anything
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  int announce_fd() const { return pipe_.get(); }  // takes pid_t of group leaders; close-on-exec

 private:
  UniqueFd pipe_;
  pid_t pid_ = -1;
};

}  // namespace lockstep
