// Closes owned file descriptors.
#include "core/base/files/fd.h"

#include <unistd.h>

namespace lockstep {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0 && fd_ != fd) ::close(fd_);
  fd_ = fd;
}

}  // namespace lockstep
