// Passes our standard input on to a program in another process group, which could not read a
// terminal itself.
#pragma once

#include <string>

#include "core/base/files/fd.h"

namespace lockstep {

class InputPipe {
 public:
  InputPipe();  // throws Error
  int theirs() const { return read_.get(); }
  void started() { read_.reset(); }  // call it once the program has its end of the pipe
  int fd() const;                    // to poll; -1: nothing is to be read
  bool writes() const { return !waiting_.empty(); }  // fd() is polled for writing, else for reading
  void pass_on();  // passes on available bytes; at our end of input, closes the program's

 private:
  UniqueFd read_, write_;
  std::string waiting_;
};

}  // namespace lockstep
