#include "tools/jobs/schedule/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/write_all.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr int device_parts = 4;

bool can_be_made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

DeviceLeases::DeviceLeases(fs::path folder) : folder_(std::move(folder)) {
  if (!can_be_made(folder_))
    throw Error(cat("cannot write to ", folder_.string(),
                    ", where GPUs are shared out: ", errno_text(errno)),
                "set XDG_STATE_HOME to a folder that you can write to");
}

fs::path DeviceLeases::usual_folder() {
  std::vector<fs::path> candidates;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    candidates.emplace_back(fs::path(state) / "lockstep/devices");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    candidates.emplace_back(fs::path(home) / ".local/state/lockstep/devices");
  for (const fs::path& folder : candidates)
    if (can_be_made(folder)) return folder;
  return fs::temp_directory_path() / cat("lockstep-", ::getuid()) / "devices";
}

fs::path DeviceLeases::file(const std::string& uuid, int part) const {
  std::string name = uuid;
  std::replace(name.begin(), name.end(), '/', '_');  // for example, MIG-GPU-…/7/0
  return folder_ / cat(name, ".", part);
}

UniqueFd DeviceLeases::lock(const std::string& uuid, int part, int kind,
                            const std::string& holder) {
  UniqueFd fd = above_stderr(UniqueFd(::open(
      file(uuid, part).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)));
  if (!fd || ::flock(fd.get(), kind | LOCK_NB) != 0) return {};
  if (::ftruncate(fd.get(), 0) == 0) write_all(fd.get(), holder);
  return fd;
}

std::optional<std::vector<UniqueFd>> DeviceLeases::take(const std::string& uuid, double share,
                                                        const std::string& holder) {
  const auto wanted = static_cast<std::size_t>(std::ceil(share * device_parts - 1e-9));
  std::vector<UniqueFd> taken;
  for (int part = 0; part < device_parts && taken.size() < wanted; ++part)
    if (UniqueFd fd = lock(uuid, part, LOCK_EX, holder)) taken.push_back(std::move(fd));
  if (taken.size() < wanted) return std::nullopt;
  return taken;
}

std::optional<std::vector<UniqueFd>> DeviceLeases::take_for_training(const std::string& uuid,
                                                                     const std::string& holder) {
  std::vector<UniqueFd> taken;
  for (int part = 0; part < device_parts; ++part) {
    taken.push_back(lock(uuid, part, LOCK_SH, holder));
    if (!taken.back()) return std::nullopt;
  }
  return taken;
}

std::vector<std::string> DeviceLeases::holders(const std::string& uuid) const {
  std::vector<std::string> found;
  for (int part = 0; part < device_parts; ++part) {
    const UniqueFd fd(::open(file(uuid, part).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) continue;
    std::string text(256, '\0');
    const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  }
  return found;
}

}  // namespace lockstep
