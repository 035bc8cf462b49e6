// Descriptors that are safe to hand to a child: close-on-exec, and never numbered 0, 1 or 2.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

UniqueFd above_stderr(UniqueFd fd);  // the same file, numbered 3 or higher; empty on error (errno)

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe();  // throws Error, or ShortOfResources

void set_nonblocking(int fd);

// Whether the errno means that files, processes or memory are used up.
bool is_shortage(int error);
// Raises this process's limit of open files as far as it is allowed to. Child processes keep the
// earlier limit, since some programs are slow with a high one.
void allow_most_open_files();
void restore_open_files_limit();  // async-signal-safe, for use between fork and exec

// Both are async-signal-safe, for use between fork and exec.
void close_on_exec_above_stderr();
void close_all_but(int fd);

}  // namespace lockstep
