// A folder of the cache that is filled once.
#include "recipes/textgen/prepare/store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/error.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"

namespace lockstep::textgen {
namespace {

namespace fs = std::filesystem;

UniqueFd lock(const fs::path& path, const std::function<void()>& waiting) {
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

}  // namespace

fs::path fill_once(const fs::path& root, const std::string& key,
                   const std::function<bool(const fs::path&)>& good,
                   const std::function<void(const fs::path&)>& fill,
                   const std::function<void()>& waiting) {
  const fs::path folder = root / key;
  if (good(folder)) return folder;
  make_directories(root);
  const UniqueFd held = lock(root / (key + ".lock"), waiting);
  if (good(folder)) return folder;
  const fs::path part = root / (key + ".part");
  fs::remove_all(folder);
  fs::remove_all(part);
  make_directories(part);
  try {
    fill(part);
    sync_directory(part);
    fs::rename(part, folder);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(part, ignored);
    throw;
  }
  sync_directory(root);
  return folder;
}

}  // namespace lockstep::textgen
