// Passes our standard input on to a program in another process group, which could not read from a
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
  int fd() const;                    // the descriptor to poll; -1 = there is nothing to read
  bool writes() const { return !waiting_.empty(); }  // poll fd() for writing; false: for reading
  void pass_on();  // passes on available bytes; at the end of our input, closes the program's input

 private:
  UniqueFd read_, write_;
  std::string waiting_;
};

}  // namespace lockstep
