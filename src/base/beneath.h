// Files below a folder, without following links out of it.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <filesystem>

#include "base/fd.h"

namespace lockstep {

class Beneath {
 public:
  // A link to the folder itself is followed.
  explicit Beneath(const std::filesystem::path& folder)
      : folder_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  // An empty descriptor and errno where it cannot be opened.
  UniqueFd open(const std::filesystem::path& below, int flags, mode_t mode = 0666) const {
    if (!folder_) {
      errno = ENOENT;
      return UniqueFd();
    }
    UniqueFd part;
    int at = folder_.get();
    for (auto name = below.begin(); name != below.end(); ++name) {
      if (*name == ".." || name->is_absolute()) {
        errno = EXDEV;
        return UniqueFd();
      }
      const bool last = std::next(name) == below.end();
      UniqueFd next(::openat(at, name->c_str(),
                             (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW, mode));
      if (!next || last) return next;
      part = std::move(next);
      at = part.get();
    }
    errno = ENOENT;
    return UniqueFd();
  }

 private:
  UniqueFd folder_;
};

}  // namespace lockstep
