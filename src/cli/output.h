// Where a command writes what it was asked to keep, and flags that several commands read alike.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "cli/arguments.h"

namespace lockstep::cli {

enum class Written { yes, unread, failed };

// Standard output, or a new file, which is gone again where nothing was written to it. A reader
// that has seen enough ends the program without a word.
class Output {
 public:
  // path: "-" is standard output; mode: of a new file. Throws Error if there is such a file
  // already.
  explicit Output(const std::string& path, int mode = 0644);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  // unread: nobody reads it any more. failed: it says why.
  Written write(std::string_view text);

 private:
  std::string path_;
  UniqueFd file_;
  bool begun_ = false;
};

// Of a flag, in seconds; `otherwise` without it. Throws Error if it is below `least`.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least);

// A process that is there. Throws Error, naming what it is for.
int pid_of(const std::string& text, const std::string& what);

}  // namespace lockstep::cli
