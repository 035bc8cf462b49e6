// Starts child processes. All programs here use it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// fork(). All signals stay blocked in the child (return value 0), so that no handler of ours runs
// there. Throws Error. cgroup_fd: an open folder of a control group, where the child is born if the
// kernel allows it.
pid_t fork_with_signals_blocked(int cgroup_fd = -1);

struct SpawnSpec {
  std::vector<std::string> argv;                        // the program is looked up in PATH
  std::optional<std::vector<std::string>> environment;  // "NAME=value", the whole environment;
                                                        // nothing: ours
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;    // above 2; 0, 1, 2: ours; -1: /dev/null
  std::vector<int> inherited;  // kept open under their numbers; all others are closed
  bool inherits_all = false;   // keeps all descriptors open but close-on-exec ones
  bool own_group = true;     // leads a process group; gets SIGKILL when the calling thread ends, as
                             // with own_session
  bool own_session = false;  // leads a session, and with it a group: no terminal reaches it
  bool outlives_us = false;  // no SIGKILL when the calling thread ends
  std::string folder;        // working folder; empty: ours
  std::vector<int> cores;    // cores it may use; empty: as ours
  int announce_fd = -1;      // the child writes its pid_t here before it execs; or -1
  int cgroup_fd = -1;        // as above; or -1
};

// Call it at the start of a program of ours. A file that may not grow any more (ulimit -f) then
// fails the write with EFBIG, like a full disk. Otherwise SIGXFSZ would end the program.
void ignore_file_size_signal();

// The child starts with an empty signal mask. Signals that a launcher or any program of ours
// handles or ignores have their default disposition. Returns once the program runs. Throws Error if
// it cannot; no child is left then.
pid_t spawn(const SpawnSpec& spec);

int exit_code(int wait_status);  // of waitpid: the exit code, or 128 + signal
int wait_for_exit(pid_t child);  // the same; waits

}  // namespace lockstep
