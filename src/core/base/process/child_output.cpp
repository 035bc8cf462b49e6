// Starts a child, reads its output and waits for its end.
#include "core/base/process/child_output.h"

#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace lockstep {
namespace {

std::string read_output(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

ChildOutput output_of(std::vector<std::string> words, int keep_fd, int error_fd) {
  Pipe pipe = make_pipe();
  const pid_t child = spawn({.argv = std::move(words),
                             .environment = {},
                             .stdin_fd = STDIN_FILENO,
                             .stdout_fd = pipe.write.get(),
                             .stderr_fd = error_fd,
                             .inherited = keep_fd < 0 ? std::vector<int>{} : std::vector{keep_fd},
                             .inherits_all = true,
                             .own_group = false});
  pipe.write.reset();
  ChildOutput output{.out = read_output(pipe.read.get())};
  output.code = wait_for_exit(child);
  return output;
}

}  // namespace

ChildOutput child_output(std::vector<std::string> words, int keep_fd) {
  return output_of(std::move(words), keep_fd, STDERR_FILENO);
}

ChildOutput quiet_child_output(std::vector<std::string> words) {
  return output_of(std::move(words), -1, -1);
}

}  // namespace lockstep
