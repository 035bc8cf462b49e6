// Records interrupts instead of obeying them, for code that must not be interrupted.
#pragma once

#include <array>
#include <csignal>

namespace lockstep::cli {

// Records SIGINT, SIGTERM and SIGHUP during its lifetime; only one may exist. Ignored signals stay
// ignored. `launch` handles these signals while it runs, and then gives them back.
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
