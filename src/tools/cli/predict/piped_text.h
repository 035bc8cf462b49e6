// Reads text that a user pipes into a command, without waiting for ever if nothing is sent.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::cli {

// Returns the contents of standard input (or another descriptor), without one line feed at the end.
// Reads a pipe, a socket, or a file that nobody has begun to read. Returns nothing for terminals,
// devices such as /dev/null, and the rest of a script's own input. Also returns nothing for a pipe
// without data for `patience_s`, which cron, ssh or a notebook may leave open; say reports that.
// Throws Error if the input cannot be read, or is longer than any prompt.
std::optional<std::string> piped_text(int fd, double patience_s,
                                      const std::function<void(const std::string&)>& say);

// Whether `piped_text` would read anything, of any length.
bool has_piped_text(int fd, double patience_s, const std::function<void(const std::string&)>& say);

// Copies all data from a descriptor into a new file. Throws Error. look_up: called from time to
// time, also while no data comes; it may throw.
void copy_to_file(int fd, const std::filesystem::path& file, const std::function<void()>& look_up);

// Returns all text of a descriptor of any kind, however long it takes.
std::string text_to_the_end(int fd);

}  // namespace lockstep::cli
