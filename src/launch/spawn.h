// Starts a child process in a group of its own that cannot outlive the calling thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lockstep {

// fork(); in the child (0) all signals stay blocked, so that no handler of ours runs there. Throws
// Error.
pid_t fork_with_signals_blocked();

struct SpawnSpec {
  std::vector<std::string> argv;         // the program is looked up in PATH
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  int stdout_fd = -1, stderr_fd = -1;    // above 2, or 1 and 2 for ours; stdin is /dev/null
  std::vector<int> inherited;            // kept open under their numbers; all others are closed
  int announce_fd = -1;                  // the child writes its pid_t here before it execs; or -1
};

// The child leads its process group, gets SIGKILL when the calling thread ends, and starts with an
// empty signal mask and default dispositions of the signals that a launcher handles.
// Returns once the program runs. Throws Error if it cannot (then no child is left).
pid_t spawn(const SpawnSpec& spec);

}  // namespace lockstep
