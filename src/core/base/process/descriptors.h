// Makes file descriptors that cannot clash with those of a child process: close-on-exec, and never
// 0, 1 or 2.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

// moves a descriptor to a number above 2; empty on an error, with the reason in errno
UniqueFd above_stderr(UniqueFd fd);

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe();  // throws ShortOfResources if there are too many open files

void set_nonblocking(int fd);

// Whether the errno means that a limit of open files, processes or memory is reached.
bool is_shortage(int error);
// Raises this process's limit of open files to the allowed maximum. Children that spawn.h starts
// get the earlier limit, because some programs are slow with a high limit.
void allow_most_open_files();
// Sets the earlier limit again. Async-signal-safe, for use between fork and exec.
void restore_open_files_limit();

// These two functions are async-signal-safe, for use between fork and exec.
void close_on_exec_above_stderr();
void close_all_but(int fd);

}  // namespace lockstep
