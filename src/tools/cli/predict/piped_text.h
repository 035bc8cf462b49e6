// Reads text that a user pipes into a command. Does not wait forever if nothing is sent.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::cli {

// Returns the contents of standard input or another descriptor, without one line feed at the end.
// Reads pipes, sockets, and files from their beginning. Returns nothing for a terminal, a device
// such as /dev/null, a file that is partly read, and an empty input. Also returns nothing if no
// data comes within `patience_s`, and reports that with `say`. cron, ssh or a notebook may leave an
// unused pipe open. Throws Error if the input cannot be read, or is longer than 64 MiB.
std::optional<std::string> piped_text(int fd, double patience_s,
                                      const std::function<void(const std::string&)>& say);

// Whether `piped_text` would read the descriptor. Waits for data as `piped_text` does, but reads
// nothing.
bool has_piped_text(int fd, double patience_s, const std::function<void(const std::string&)>& say);

// Copies all data from a descriptor into a file, which is created or truncated. look_up: called
// from time to time, even while no data comes; it may throw to end the copy. Throws Error if
// reading or writing fails.
void copy_to_file(int fd, const std::filesystem::path& file, const std::function<void()>& look_up);

// Reads a descriptor of any kind to its end, however long that takes. Returns the text without one
// line feed at the end. Throws Error as piped_text does.
std::string text_to_the_end(int fd);

}  // namespace lockstep::cli
