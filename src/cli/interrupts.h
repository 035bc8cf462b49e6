// Interrupts noted instead of obeyed, where something must be put in order first.
#pragma once

#include <array>
#include <csignal>

namespace lockstep::cli {

// Notes SIGINT, SIGTERM and SIGHUP for as long as it lives; one at a time. Signals that are ignored
// stay so. `launch` takes them over while it runs, and gives them back.
class NotedInterrupts {
 public:
  NotedInterrupts();
  ~NotedInterrupts();
  NotedInterrupts(const NotedInterrupts&) = delete;
  NotedInterrupts& operator=(const NotedInterrupts&) = delete;
  bool came() const;
  int newest() const;  // its number; 0 if none came

 private:
  static constexpr std::array<int, 3> numbers_ = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, numbers_.size()> before_{};
};

}  // namespace lockstep::cli
