// Starts child processes. All programs of Lockstep use it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Calls fork(). In the child (return value 0) all signals stay blocked, so that none of this
// program's handlers runs there. Throws Error. cgroup_fd: an open folder of a control group; the
// child starts in it if the kernel allows this.
pid_t fork_with_signals_blocked(int cgroup_fd = -1);

struct SpawnSpec {
  std::vector<std::string> argv;                        // the program is looked up in PATH
  std::optional<std::vector<std::string>> environment;  // "NAME=value", the whole environment;
                                                        // nothing: as this process
  // Descriptors above 2. 0, 1, 2: those of this process, shared. -1: /dev/null.
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;
  std::vector<int> inherited;  // kept open under their numbers; all others are closed
  bool inherits_all = false;   // keeps all descriptors open but close-on-exec ones
  bool own_group = true;       // leads a process group. With this or own_session, the child gets
                               // SIGKILL when the calling thread ends
  bool own_session = false;    // leads a session and a process group; no terminal reaches it
  bool outlives_us = false;    // no SIGKILL when the calling thread ends
  std::string folder;          // working folder; empty: as this process
  std::vector<int> cores;      // cores it may use; empty: as this process
  int announce_fd = -1;        // the child writes its pid_t here before it execs; or -1
  int cgroup_fd = -1;          // as for fork_with_signals_blocked; or -1
};

// Every program of Lockstep calls this at its start. A write beyond the file-size limit (ulimit -f)
// then fails with EFBIG, like a full disk. Otherwise SIGXFSZ would end the program.
void ignore_file_size_signal();

// The child starts with an empty signal mask. Signals that a launcher or any program of Lockstep
// handles or ignores have their default disposition in the child. Returns once the program runs.
// Throws Error if it cannot be run. In this case no child is left.
pid_t spawn(const SpawnSpec& spec);

// wait_status: from waitpid. Returns the exit code, or 128 + signal.
int exit_code(int wait_status);
int wait_for_exit(pid_t child);  // waits for the child, and returns its exit_code

}  // namespace lockstep
