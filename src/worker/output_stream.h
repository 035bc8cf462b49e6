// Writes the data output of a worker. If not all bytes can be written, the program fails with the
// reason.
#pragma once

#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

class OutputStream {
 public:
  // file: a file that is created or truncated, or empty for standard output. Throws Error if it
  // cannot be opened.
  explicit OutputStream(const std::string& file = "");
  // Writes the text without a buffer. On a terminal, the text is written as `printable_log` returns
  // it. Throws Error if not all bytes could be written.
  void write(std::string_view text);

 private:
  std::string name_;
  UniqueFd file_;
};

}  // namespace lockstep
