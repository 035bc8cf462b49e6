#include "core/base/files/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

constexpr std::string_view ending = ".tmp";

std::string text_of(const std::string& file) {
  try {
    return read_file(file);
  } catch (const Error&) {
    return {};
  }
}

// The start time of a live process, in ticks since the machine started. Empty if no such process
// lives.
std::string start_of_process(std::string_view process) {
  const std::string text = text_of(cat("/proc/", process, "/stat"));
  // Fields behind the process name, which may contain any character.
  constexpr std::size_t state = 1, start = 20;
  const std::vector<std::string> fields =
      split(text.substr(std::min(text.rfind(')'), text.size())), ' ');
  if (fields.size() <= start || fields[state] == "Z" || fields[state] == "X") return {};
  return fields[start];
}

// Identifies the boot of the machine and the PID namespace, because containers number processes
// separately.
const std::string& boot() {
  static const std::string digits = [] {
    struct stat numbers {};
    static_cast<void>(::stat("/proc/self/ns/pid", &numbers));
    return hash128_hex(cat(text_of("/proc/sys/kernel/random/boot_id"), " ", numbers.st_ino))
        .substr(0, 8);
  }();
  return digits;
}

// Whether no process holds a lock on the file or folder.
bool nobody_holds(const Beneath& folder, const std::filesystem::path& below) {
  // NFS cannot lock a file that is open for reading.
  UniqueFd fd = folder.open(below, O_RDWR | O_NONBLOCK);
  if (!fd) fd = folder.open(below, O_RDONLY | O_NONBLOCK);
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

const std::string& owner_name() {
  static std::mutex mutex;
  static pid_t process = 0;
  static std::string name;
  const std::lock_guard lock(mutex);
  if (process != ::getpid()) {  // in the first call or after a fork
    process = ::getpid();
    name = cat(process, "-", boot(), "-", start_of_process(cat(process)));
  }
  return name;
}

std::string unfinished_name(std::string_view name) {
  static std::atomic<unsigned> serial{0};
  constexpr std::size_t longest = 180;  // a name may have 255 bytes
  return cat(".", name.substr(0, longest), ".", owner_name(), ".", serial.fetch_add(1), ending);
}

bool has_ended(std::string_view name, std::string_view prefix, const struct stat& found) {
  if (!name.starts_with(prefix)) return false;
  const std::vector<std::string> parts = split(name.substr(prefix.size()), '-');
  if (parts.size() < 3 || !whole_number(parts[0]) || parts[1].size() != boot().size()) return false;
  constexpr double long_ago_s = 600;
  if (parts[1] != boot())
    return system_clock().wall_s() - static_cast<double>(found.st_mtime) > long_ago_s;
  const std::string start = start_of_process(parts[0]);
  return start.empty() || start != parts[2];
}

std::filesystem::path make_temporary_folder(const std::filesystem::path& root) {
  constexpr std::string_view prefix = "lockstep-";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat found {};
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || ::lstat(entry->path().c_str(), &found) != 0 ||
        !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || !has_ended(name, prefix, found))
      continue;
    const UniqueFd fd(::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::error_code ignored;
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0)
      std::filesystem::remove_all(entry->path(), ignored);
  }
  std::string name = (root / cat(prefix, owner_name(), "-XXXXXX")).string();
  return ::mkdtemp(name.data()) == nullptr ? "" : name;
}

void remove_abandoned(const Beneath& folder, const std::filesystem::path& below) {
  static std::mutex mutex;
  static std::set<std::string> looked_at;
  {
    const std::lock_guard lock(mutex);
    if (!looked_at.insert((folder.path() / below).lexically_normal().string()).second) return;
  }
  for (const std::string& name : folder.names_in(below)) {
    if (!name.starts_with('.') || !name.ends_with(ending)) continue;
    // The name is .NAME.OWNER.SERIAL.tmp, so the owner is the third part from the end.
    const std::size_t serial = name.rfind('.', name.size() - ending.size() - 1);
    const std::size_t owner = serial == 0 ? 0 : name.rfind('.', serial - 1);
    const auto found = folder.status(below / name);
    if (owner == 0 || owner == name.npos || !found || found->st_uid != ::geteuid()) continue;
    if (!has_ended(std::string_view(name).substr(owner + 1, serial - owner - 1), "", *found) ||
        !nobody_holds(folder, below / name))
      continue;
    S_ISDIR(found->st_mode) ? folder.remove_folder(below / name) : folder.remove(below / name);
  }
}

}  // namespace lockstep
