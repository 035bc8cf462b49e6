// Delivers signals to the launcher as bytes in a pipe, during the lifetime of this object.
#pragma once

#include <signal.h>

#include <array>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Handles SIGINT, SIGTERM, SIGUSR1 and SIGHUP. If SIGHUP is ignored (nohup), it stays so. Ignores
// SIGPIPE, and gives SIGCHLD its default action, so that children can be waited for. Only one
// object may exist at a time. The destructor restores the previous handlers.
class SignalPipe {
 public:
  SignalPipe();  // throws Error
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;
  int fd() const { return read_.get(); }  // readable when a signal has arrived
  std::vector<int> take();                // signals since the last call, in order; does not block

 private:
  static constexpr std::array<int, 6> numbers_ = {SIGINT, SIGTERM, SIGUSR1,
                                                  SIGHUP, SIGPIPE, SIGCHLD};
  UniqueFd read_, write_;
  std::array<struct sigaction, numbers_.size()> before_{};
};

}  // namespace lockstep
