// Starts a program whose processes are watched. The program inherits the terminal and the open
// files of this process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

class WatchedCommand {
 public:
  // words[0] is looked up in PATH. Throws Error if the program cannot be started.
  explicit WatchedCommand(std::vector<std::string> words);
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;

  pid_t pid() const { return pid_; }
  // Returns the exit code, or 128 + signal if a signal killed the program. Returns nothing while
  // the program runs.
  std::optional<int> ended();
  void send(int signal) const;  // has no effect after the program has ended

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace lockstep
