// Signals to the launcher as bytes in a pipe, for as long as this object lives.
#pragma once

#include <signal.h>

#include <array>
#include <vector>

#include "base/fd.h"

namespace lockstep {

// Takes over SIGINT, SIGTERM, SIGUSR1 and, unless ignored (nohup), SIGHUP; ignores SIGPIPE, and
// gives SIGCHLD its default so that children can be waited for. One at a time; the destructor
// restores what was.
class SignalPipe {
 public:
  SignalPipe();  // throws Error
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;
  int fd() const { return read_.get(); }  // readable when a signal came
  std::vector<int> take();                // those that came since, in order; does not block

 private:
  static constexpr std::array<int, 6> numbers_ = {SIGINT, SIGTERM, SIGUSR1,
                                                  SIGHUP, SIGPIPE, SIGCHLD};
  UniqueFd read_, write_;
  std::array<struct sigaction, numbers_.size()> before_{};
};

}  // namespace lockstep
