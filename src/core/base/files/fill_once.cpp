// Fills a folder of the cache once.
#include "core/base/files/fill_once.h"

#include "core/base/files/file_lock.h"
#include "core/base/files/files.h"

namespace lockstep {

namespace fs = std::filesystem;

fs::path fill_once(const fs::path& root, const std::string& key,
                   const std::function<bool(const fs::path&)>& good,
                   const std::function<void(const fs::path&)>& fill,
                   const std::function<void()>& waiting) {
  const fs::path folder = root / key;
  if (good(folder)) return folder;
  make_directories(root);
  const UniqueFd held = lock_file(root / (key + ".lock"), waiting);
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

}  // namespace lockstep
