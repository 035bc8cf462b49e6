// File descriptors that are safe to pass to a child: close-on-exec, and never 0, 1 or 2.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

UniqueFd above_stderr(UniqueFd fd);  // moves it to number 3 or above; empty on error (errno)

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe();  // throws Error, or ShortOfResources

void set_nonblocking(int fd);

// Whether the errno means that there are no more files, processes or memory.
bool is_shortage(int error);
// Raises this process's limit of open files to the allowed maximum. Child processes get the earlier
// limit, because some programs are slow with a high one.
void allow_most_open_files();
void restore_open_files_limit();  // async-signal-safe, for use between fork and exec

// These two are async-signal-safe, for use between fork and exec.
void close_on_exec_above_stderr();
void close_all_but(int fd);

}  // namespace lockstep
