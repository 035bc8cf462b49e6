// Descriptors that are safe to hand to a child: close-on-exec, and never in the place of 0, 1, 2.
#pragma once

#include "base/fd.h"

namespace lockstep {

UniqueFd above_stderr(UniqueFd fd);  // the same file, numbered 3 or higher; empty on error (errno)

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe();  // throws Error

void set_nonblocking(int fd);
// Both are async-signal-safe, for use between fork and exec.
void close_on_exec_above_stderr();
void close_all_but(int fd);
}  // namespace lockstep
