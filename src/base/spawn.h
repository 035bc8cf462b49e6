// Starts child processes: the one way of all programs here.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// fork(); in the child (0) all signals stay blocked, so that no handler of ours runs there. Throws
// Error. With the open folder of a control group the child is born in that, where the kernel allows
// it.
pid_t fork_with_signals_blocked(int cgroup_fd = -1);

struct SpawnSpec {
  std::vector<std::string> argv;                        // the program is looked up in PATH
  std::optional<std::vector<std::string>> environment;  // "NAME=value", all of it; nothing: ours
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;    // above 2; 0, 1, 2: ours; -1: /dev/null
  std::vector<int> inherited;  // kept open under their numbers; all others are closed
  bool inherits_all = false;   // but those with close-on-exec
  bool own_group = true;  // leads a process group; it and one with a session get SIGKILL when the
                          // calling thread ends
  bool own_session = false;  // leads a session, and with it a group: no terminal reaches it
  bool outlives_us = false;  // no SIGKILL when the calling thread ends
  std::string folder;        // working folder; empty: ours
  std::vector<int> cores;    // that it may use; empty: as ours
  int announce_fd = -1;      // the child writes its pid_t here before it execs; or -1
  int cgroup_fd = -1;        // as above; or -1
};

// For the beginning of a program of ours: a file that may not grow any more (ulimit -f) is then an
// error of the write, EFBIG, as a full disk is, and not the end of the program (SIGXFSZ).
void ignore_file_size_signal();

// The child starts with an empty signal mask and default dispositions of the signals that a
// launcher or any program of ours handles or ignores. Returns once the program runs. Throws Error
// if it cannot (then no child is left).
pid_t spawn(const SpawnSpec& spec);

int exit_code(int wait_status);  // of waitpid: the exit code, or 128 + signal
int wait_for_exit(pid_t child);  // likewise; waits

}  // namespace lockstep
