// Locks files with flock(2).
#include "core/base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

UniqueFd lock_file(const std::filesystem::path& path, const std::function<void()>& waiting) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd)
    throw Error(cat("cannot write to the cache: ", path.string(), ": ", errno_text(errno)),
                "check the permissions of the cache folder");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  waiting();
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      throw Error(cat("cannot lock ", path.string(), ": ", errno_text(errno)),
                  "put the cache on a file system with locks");
  return fd;
}

}  // namespace lockstep
