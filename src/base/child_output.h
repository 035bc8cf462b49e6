// A child process run to its end for what it prints.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

struct ChildOutput {
  int code = 0;     // exit code, or 128 + signal
  std::string out;  // its standard output
};

// Runs `words` (a program's path and its arguments) with our standard input and error. Throws Error
// if no process could be made; a program that is not there gives code 127. keep_fd: stays open in
// it, under its number.
ChildOutput child_output(std::vector<std::string> words, int keep_fd = -1);

}  // namespace lockstep
