// fork, exec, read, wait.
#include "base/child_output.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace lockstep {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

ChildOutput child_output(std::vector<std::string> words, int keep_fd) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(cat("could not make a pipe: ", errno_text(errno)));
  UniqueFd reader(ends[0]), writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw Error(cat("could not start ", words.at(0), ": ", errno_text(errno)));
  if (child == 0) {
    dup2(writer.get(), STDOUT_FILENO);
    if (keep_fd >= 0) fcntl(keep_fd, F_SETFD, 0);
    execv(argv[0], argv.data());
    _exit(127);
  }
  writer.reset();
  ChildOutput output{.out = read_all(reader.get())};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace lockstep
