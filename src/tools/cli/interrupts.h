// Records the signals that would end the program, for code that must not be interrupted.
#pragma once

#include <array>
#include <csignal>

namespace lockstep::cli {

// Records SIGINT, SIGTERM and SIGHUP during its lifetime; only one object may exist. Ignored
// signals stay ignored. While the function `launch` runs ranks, it handles these signals itself;
// afterwards they are recorded again.
class NotedInterrupts {
 public:
  NotedInterrupts();
  ~NotedInterrupts();
  NotedInterrupts(const NotedInterrupts&) = delete;
  NotedInterrupts& operator=(const NotedInterrupts&) = delete;
  bool came() const;
  int newest() const;  // signal number; 0 if none came

 private:
  static constexpr std::array<int, 3> numbers_ = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, numbers_.size()> before_{};
};

}  // namespace lockstep::cli
