#include "core/base/errno_hint.h"

#include <cerrno>

namespace lockstep {

std::string errno_hint(int error) {
  switch (error) {
    case ENOENT:
      return "check the path; it is taken from the current folder if relative";
    case EISDIR:
      return "a folder lies in the place of the file";
    case ENOTDIR:
      return "a file lies in the place of a folder, or on the way to it";
    case EEXIST:
      return "something else lies in its place: look at it";
    case ENOTEMPTY:
      return "it holds something that is no part of it, which stays";
    case ELOOP:
      return "links on the way to it lead in a circle";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions of what lies there and of the folders above it";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another folder";
    case EFBIG:
      return "files may not be longer here: see ulimit -f";
    case EIO:
      return "look at the disk, and at what the kernel says of it";
    default:
      return "";
  }
}

}  // namespace lockstep
