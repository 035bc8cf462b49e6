// Finds the last line of a file without reading the whole file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// The offset just after the last newline in the first `size` bytes; 0 if there is none. Nothing if
// they cannot be read (errno), or if more than `longest_line` bytes follow it (EFBIG).
std::optional<off_t> end_of_whole_lines(int fd, off_t size, off_t longest_line);

// The last line that ends with a newline, without that newline. Nothing if there is none. Text
// after it is an incomplete line and is ignored. path: for messages. Throws Error if the line
// cannot be read or is longer than `longest_line`.
std::optional<std::string> last_whole_line(int fd, const std::filesystem::path& path,
                                           off_t longest_line);

}  // namespace lockstep
