// Starts child processes. All programs of Lockstep use it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Calls fork(). In the child, which gets 0, all signals stay blocked, so that no handler of this
// program runs there. Throws Error. cgroup_fd: an open folder of a control group, in which the
// child starts if the kernel allows it.
pid_t fork_with_signals_blocked(int cgroup_fd = -1);

struct SpawnSpec {
  std::vector<std::string> argv;  // the program is looked up in PATH
  // all variables as "NAME=value"; nothing = those of this process
  std::optional<std::vector<std::string>> environment;
  // Descriptors above 2, or 0, 1, 2 for those of this process. -1 = /dev/null.
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;
  std::vector<int> inherited;  // kept open under their numbers; all others are closed
  bool inherits_all = false;   // keeps all descriptors open except close-on-exec ones
  // leads a process group. With this or own_session, the child gets SIGKILL when the calling thread
  // ends
  bool own_group = true;
  bool own_session = false;  // leads a session and a process group, and has no terminal
  bool outlives_us = false;  // no SIGKILL when the calling thread ends
  std::string folder;        // working folder; empty: that of this process
  std::vector<int> cores;    // cores that it may use; empty: those of this process
  int announce_fd = -1;      // the child writes its pid_t here before exec; -1 = it does not
  int cgroup_fd = -1;        // see fork_with_signals_blocked; -1 = none
};

// Makes a write beyond the file-size limit (ulimit -f) fail with EFBIG, like a full disk. Without
// this, SIGXFSZ would end the program. Every program of Lockstep calls it at its start.
void ignore_file_size_signal();

// Starts a child and returns once its program runs. The child has an empty signal mask. Signals
// that programs of Lockstep handle or ignore get their default action. Only SIGHUP and SIGINT stay
// ignored if they were ignored. Throws Error if the program cannot be run. No child is left then.
pid_t spawn(const SpawnSpec& spec);

// wait_status: from waitpid. Returns the exit code, or 128 + signal.
int exit_code(int wait_status);
int wait_for_exit(pid_t child);  // waits for the child and returns its exit_code

}  // namespace lockstep
