// A worker's data output. Either every byte is written, or the program fails and says why.
#pragma once

#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

class OutputStream {
 public:
  // file: a new file, or empty for standard output. Throws Error.
  explicit OutputStream(const std::string& file = "");
  // Writes at once, without a buffer. On a terminal it writes the text as `printable_log` makes it.
  // Throws Error if not all could be written.
  void write(std::string_view text);

 private:
  std::string name_;
  UniqueFd file_;
};

}  // namespace lockstep
