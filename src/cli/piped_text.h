// Text that a user pipes into a command, without waiting for ever where nobody sends any.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::cli {

// What standard input (or another descriptor) holds to its end, without one line feed there. For a
// pipe or a socket, or a file that nobody has begun to read: terminals, devices such as /dev/null
// and the rest of a script's own input give nothing. Nor does a pipe on which nothing comes for
// `patience_s`, as where cron, ssh or a notebook leave one open; say tells of that. Throws Error if
// it cannot be read, or is longer than any prompt.
std::optional<std::string> piped_text(int fd, double patience_s,
                                      const std::function<void(const std::string&)>& say);

// Whether `piped_text` would read something, of any length.
bool has_piped_text(int fd, double patience_s, const std::function<void(const std::string&)>& say);

// All that comes from a descriptor, into a new file. Throws Error.
// look_up: called now and then, also while nothing comes; it may throw.
void copy_to_file(int fd, const std::filesystem::path& file, const std::function<void()>& look_up);

// The same of whatever it is, however long it takes.
std::string text_to_the_end(int fd);

}  // namespace lockstep::cli
