// The end of a rank's output, for the message about its failure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

// Returns the final text of a line that was rewritten with carriage returns, such as a progress
// bar.
std::string_view as_rewritten(std::string_view line);

// Returns the last lines of the text, at most `lines`, without the final newline. `as_rewritten` is
// applied to each line, and each is cut after 1000 bytes.
std::string last_lines(std::string_view text, int lines);

// The same for the last `bytes` of a file. Empty if the file cannot be read.
std::string last_lines_of_file(const std::filesystem::path& file, int lines, std::size_t bytes);
std::string last_lines_of_file(const UniqueFd& file, int lines, std::size_t bytes);

// Keeps the end of a stream: all of it, or at least its last 256 KiB.
class LogTail {
 public:
  void add(std::string_view bytes);
  std::string last_lines(int lines) const { return lockstep::last_lines(text_, lines); }

 private:
  std::string text_;
};

}  // namespace lockstep
