// A child process run to its end for what it prints.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

struct ChildOutput {
  int code = 0;     // exit code, or 128 + signal
  std::string out;  // its standard output
};

// Runs `words` (a program, which is looked up in PATH, and its arguments) with our standard input
// and error. keep_fd: stays open in it, under its number. Throws Error if it cannot be started.
ChildOutput child_output(std::vector<std::string> words, int keep_fd = -1);
// Likewise; what it writes to standard error goes nowhere.
ChildOutput quiet_child_output(std::vector<std::string> words);

}  // namespace lockstep
