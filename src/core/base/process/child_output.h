// Runs a child process to its end and returns its output.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

struct ChildOutput {
  int code = 0;     // the exit code, or 128 + signal if a signal killed it
  std::string out;  // its standard output
};

// Runs a program and waits for its end. words: the program, which is looked up in PATH, and its
// arguments. The child shares this process's standard input and error. keep_fd: a descriptor that
// the child inherits under the same number; -1 = none. Throws Error if the program cannot be
// started.
ChildOutput child_output(std::vector<std::string> words, int keep_fd = -1);
// The same, but standard error is discarded.
ChildOutput quiet_child_output(std::vector<std::string> words);

}  // namespace lockstep
