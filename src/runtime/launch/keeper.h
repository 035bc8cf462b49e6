// A small process that briefly outlives the launcher, to end the remains of a killed launcher.
//
// PR_SET_PDEATHSIG ends the ranks themselves. It does not reach processes that they started in
// their groups (a shell's command, loader processes). The keeper waits on a pipe. If all writers
// close it without a farewell, it kills the groups whose leaders were announced there.
#pragma once

#include <sys/types.h>

#include "core/base/files/fd.h"

namespace lockstep {

class Keeper {
 public:
  Keeper();   // forks; throws Error
  ~Keeper();  // sends the farewell: the keeper exits without killing anything
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  // Takes the pid_t of group leaders; close-on-exec.
  int announce_fd() const { return pipe_.get(); }

 private:
  UniqueFd pipe_;
  pid_t pid_ = -1;
};

}  // namespace lockstep
