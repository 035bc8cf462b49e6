// Blocks signals while a thread is started, so that the new thread does not handle them.
#pragma once

#include <csignal>

namespace lockstep {

// During the lifetime of this object, all signals are blocked in this thread. Threads that it
// starts in this time keep them blocked.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace lockstep
