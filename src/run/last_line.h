// The end of a file of lines, however long the file is.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// Offset just after the last newline of the first `size` bytes, 0 where there is none. Nothing, and
// errno says why, where they cannot be read; EFBIG where more than `longest_line` follow it.
std::optional<off_t> end_of_whole_lines(int fd, off_t size, off_t longest_line);

// The last line that ended with a newline, without it; nothing where there is none. What follows it
// is no line yet. path: for messages. Throws Error where it cannot be read or is longer than that.
std::optional<std::string> last_whole_line(int fd, const std::filesystem::path& path,
                                           off_t longest_line);

}  // namespace lockstep
