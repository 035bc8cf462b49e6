// Writes all given bytes to a descriptor.
#include "core/base/files/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
    ::poll(&ready, 1, -1);
  }
  return true;
}

}  // namespace lockstep
