#include "tools/monitor/watched_command.h"
#include "core/base/process/spawn.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockstep {

WatchedCommand::WatchedCommand(std::vector<std::string> words) {
  pid_ = spawn({.argv = std::move(words),
                .environment = {},
                .stdin_fd = STDIN_FILENO,
                .stdout_fd = STDOUT_FILENO,
                .stderr_fd = STDERR_FILENO,
                .inherited = {},
                .inherits_all = true,
                .own_group = false});
}

std::optional<int> WatchedCommand::ended() {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, WNOHANG) == pid_) code_ = exit_code(status);
  return code_;
}

void WatchedCommand::send(int signal) const {
  if (!code_) kill(pid_, signal);
}

}  // namespace lockstep
