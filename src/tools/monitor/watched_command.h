// Starts a program to watch, with the terminal and the files of its parent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

class WatchedCommand {
 public:
  // words[0] is looked up in PATH. Throws Error if it cannot be started.
  explicit WatchedCommand(std::vector<std::string> words);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;

  pid_t pid() const { return pid_; }
  // Its exit code, 128 + signal if a signal killed it; nothing while it runs.
  std::optional<int> ended();
  void send(int signal) const;  // has no effect once it ended

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace lockstep
