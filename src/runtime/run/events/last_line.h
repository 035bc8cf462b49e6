// Finds the last line of a file without reading the whole file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// Returns the offset just after the last newline in the first `size` bytes; 0 if they have no
// newline. Returns nothing if the bytes cannot be read, or if more than `longest_line` bytes follow
// the newline. errno then has the reason (EFBIG in the second case).
std::optional<off_t> end_of_whole_lines(int fd, off_t size, off_t longest_line);

// Returns the last line that ends with a newline, without that newline. Returns nothing if the file
// has no newline. Text after the last newline is an incomplete line and is ignored. path: the
// file's name in messages. Throws Error if the line cannot be read or is longer than
// `longest_line`.
std::optional<std::string> last_whole_line(int fd, const std::filesystem::path& path,
                                           off_t longest_line);

}  // namespace lockstep
