// Passes this process's standard input on to a child in another process group, because such a child
// cannot read from the terminal itself.
#pragma once

#include <string>

#include "core/base/files/fd.h"

namespace lockstep {

class InputPipe {
 public:
  InputPipe();  // throws Error if no pipe can be made
  // the child's end of the pipe
  int theirs() const { return read_.get(); }
  void started() { read_.reset(); }  // call it once the child has its end of the pipe
  int fd() const;                    // the descriptor to poll; -1 = there is nothing to read
  // true: poll fd() for writing; false: for reading
  bool writes() const { return !waiting_.empty(); }
  // Call it when fd() is ready. Passes on available bytes. At the end of standard input, closes the
  // child's input.
  void pass_on();

 private:
  UniqueFd read_, write_;
  std::string waiting_;
};

}  // namespace lockstep
