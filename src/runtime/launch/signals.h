// Turns signals to the launcher into bytes in a pipe, so that it can poll for them.
#pragma once

#include <signal.h>

#include <array>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// During its lifetime, handles SIGINT, SIGTERM, SIGUSR1 and SIGHUP. If SIGHUP was ignored (nohup),
// it stays ignored. Ignores SIGPIPE, and gives SIGCHLD its default action, so that children can be
// waited for. Only one object may exist at a time. The destructor restores the previous handlers.
class SignalPipe {
 public:
  SignalPipe();  // throws Error if no pipe can be made
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;
  int fd() const { return read_.get(); }  // readable when a signal has arrived
  // the signals that arrived since the last call, in order; does not block
  std::vector<int> take();

 private:
  static constexpr std::array<int, 6> numbers_ = {SIGINT, SIGTERM, SIGUSR1,
                                                  SIGHUP, SIGPIPE, SIGCHLD};
  UniqueFd read_, write_;
  std::array<struct sigaction, numbers_.size()> before_{};
};

}  // namespace lockstep
