// A program that is started to be watched, with the terminal and the files of its parent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

class WatchedCommand {
 public:
  // words[0] is looked for in PATH. Throws Error if it cannot be started.
  explicit WatchedCommand(std::vector<std::string> words);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;

  pid_t pid() const { return pid_; }
  // Its exit code, 128 + signal where one killed it; nothing while it runs.
  std::optional<int> ended();
  void send(int signal) const;  // nothing once it ended

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace lockstep
