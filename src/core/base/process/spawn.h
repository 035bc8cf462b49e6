// Starts child processes. All code of Lockstep starts them with these functions.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Calls fork(), and returns the child's process id, or 0 in the child. In the child, all signals
// stay blocked, so that no signal handler of this program runs there. Throws Error if fork() fails.
// cgroup_fd: the open folder of a control group in which the child starts, if the kernel allows it;
// -1 = none.
pid_t fork_with_signals_blocked(int cgroup_fd = -1);

struct SpawnSpec {
  std::vector<std::string> argv;  // the program is looked up in PATH
  // all environment variables, as "NAME=value"; not set = those of this process
  std::optional<std::vector<std::string>> environment;
  // Descriptors for the child's standard streams. Each is above 2, or this process's descriptor
  // with the same number (0, 1 or 2). -1 = /dev/null.
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;
  // further descriptors that stay open under their numbers; all others are closed
  std::vector<int> inherited;
  bool inherits_all = false;  // if true, only close-on-exec descriptors are closed
  // The child leads a new process group. If this or own_session is true, the child gets SIGKILL
  // when the thread that called `spawn` ends.
  bool own_group = true;
  bool own_session = false;  // the child leads a new session and process group, and has no terminal
  bool outlives_us = false;  // the child does not get this SIGKILL
  std::string folder;        // working folder; empty: that of this process
  std::vector<int> cores;    // CPU cores that the child may use; empty: those of this process
  int announce_fd = -1;      // the child writes its pid_t to this descriptor before exec; -1 = none
  int cgroup_fd = -1;        // see fork_with_signals_blocked; -1 = none
};

// Makes a write beyond the file-size limit (ulimit -f) fail with EFBIG, as a write to a full disk
// fails. Without this call, the signal SIGXFSZ would end the program. Every program of Lockstep
// calls it at its start.
void ignore_file_size_signal();

// Starts a child, and returns its process id once its program runs. In the child, no signal is
// blocked. Signals that Lockstep handles or ignores get their default action in the child. Only
// SIGHUP and SIGINT stay ignored if this process ignores them. Throws Error if the program cannot
// be run. No child is left in that case.
pid_t spawn(const SpawnSpec& spec);

// Returns the exit code, or 128 + signal if a signal killed the child. wait_status: from waitpid.
int exit_code(int wait_status);
int wait_for_exit(pid_t child);  // waits for the child and returns its exit_code

}  // namespace lockstep
