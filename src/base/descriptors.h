// Descriptors that are safe to hand to a child: close-on-exec, and never in the place of 0, 1, 2.
#pragma once

#include "base/fd.h"

namespace lockstep {

UniqueFd above_stderr(UniqueFd fd);  // the same file, numbered 3 or higher; empty on error (errno)

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe();  // throws Error; ShortOfResources

void set_nonblocking(int fd);

// Whether an errno says that files, processes or memory are used up.
bool is_shortage(int error);
// From now on this process may have as many open files as it can be allowed; what it starts has the
// limit from before, since some programs take long with a high one.
void allow_most_open_files();
void restore_open_files_limit();  // async-signal-safe, for use between fork and exec

// Both are async-signal-safe, for use between fork and exec.
void close_on_exec_above_stderr();
void close_all_but(int fd);

}  // namespace lockstep
