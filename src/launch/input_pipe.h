// Passing our standard input on to a program in another process group, which could not read a
// terminal itself.
#pragma once

#include <string>

#include "base/fd.h"

namespace lockstep {

class InputPipe {
 public:
  InputPipe();  // throws Error
  int theirs() const { return read_.get(); }
  void started() { read_.reset(); }                  // the program has it now
  int fd() const;                                    // to wait for; -1: nothing is to be read
  bool writes() const { return !waiting_.empty(); }  // fd() is to be written to, else read from
  void pass_on();  // what there is; ends it for the program where ours ends

 private:
  UniqueFd read_, write_;
  std::string waiting_;
};

}  // namespace lockstep
