#include "core/base/process/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr unsigned close_range_cloexec = 1u << 2;

bool close_range(unsigned first, unsigned last, unsigned flags) {
  if (first > last) return true;
#ifdef SYS_close_range
  return ::syscall(SYS_close_range, first, last, flags) == 0;
#else
  return false;
#endif
}

// One more than the highest descriptor to close one by one. Linux before 5.9 lacks close_range, and
// before 5.11 its close-on-exec flag.
int open_files_limit() {
  return static_cast<int>(std::clamp(::sysconf(_SC_OPEN_MAX), 256L, 65536L));
}

std::optional<rlimit> open_files_before;

}  // namespace

UniqueFd above_stderr(UniqueFd fd) {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw ShortOfResources(cat("cannot make a pipe: ", errno_text(errno)),
                           "is the limit of open files (ulimit -n) too low?");
  }
  Pipe pipe{.read = above_stderr(UniqueFd(ends[0])), .write = above_stderr(UniqueFd(ends[1]))};
  if (!pipe.read || !pipe.write)
    throw ShortOfResources(cat("cannot make a pipe: ", errno_text(errno)));
  return pipe;
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM;
}

void allow_most_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const rlimit before = limit;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0 && !open_files_before) open_files_before = before;
}

void restore_open_files_limit() {
  if (open_files_before) ::setrlimit(RLIMIT_NOFILE, &*open_files_before);
}

void close_on_exec_above_stderr() {
  if (close_range(STDERR_FILENO + 1, ~0u, close_range_cloexec)) return;
  for (int fd = STDERR_FILENO + 1; fd < open_files_limit(); ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void close_all_but(int fd) {
  const unsigned kept = static_cast<unsigned>(fd);
  if (close_range(0, kept - 1, 0) && close_range(kept + 1, ~0u, 0)) return;
  for (int other = 0; other < open_files_limit(); ++other) {
    if (other != fd) ::close(other);
  }
}

}  // namespace lockstep
