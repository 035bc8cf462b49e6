// Writes the data that a worker outputs to standard output or a file.
#pragma once

#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

class OutputStream {
 public:
  // file: the path of a file, which is created or truncated; empty for standard output. Throws
  // Error if the file cannot be opened.
  explicit OutputStream(const std::string& file = "");
  // Writes the text at once, without a buffer. If the output is a terminal, `printable_log` is
  // applied. Throws Error with the reason if not all bytes can be written.
  void write(std::string_view text);

 private:
  std::string name_;
  UniqueFd file_;
};

}  // namespace lockstep
