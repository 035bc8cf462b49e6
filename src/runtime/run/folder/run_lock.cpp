#include "runtime/run/folder/run_lock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/host_name.h"
#include "core/base/process/pass_fd.h"
#include "core/base/process/signal_mask.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

std::string boot_id() {
  try {
    return trim(read_file("/proc/sys/kernel/random/boot_id"));
  } catch (const Error&) {
    return host_name();
  }
}

// Whether only this kernel uses the file system, so that all processes that see the files also see
// the locks. Any other file system may be shared with other machines.
bool is_own_disk(const std::filesystem::path& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) return false;
  constexpr std::array<std::uint32_t, 11> own = {EXT4_SUPER_MAGIC,
                                                 BTRFS_SUPER_MAGIC,
                                                 TMPFS_MAGIC,
                                                 RAMFS_MAGIC,
                                                 F2FS_SUPER_MAGIC,
                                                 MSDOS_SUPER_MAGIC,
                                                 OVERLAYFS_SUPER_MAGIC,
                                                 0x58465342 /* XFS */,
                                                 0x2fc12fc1 /* ZFS */,
                                                 0xca451a4e /* bcachefs */,
                                                 0x2011bab0 /* exFAT */};
  for (const std::uint32_t magic : own)
    if (magic == static_cast<std::uint32_t>(info.f_type)) return true;
  return false;
}

LockHolder read_holder(const std::filesystem::path& path) {
  try {
    const nlohmann::json value = parse_object(read_file(path));
    return {.pid = integer_or(value, "pid", 0),
            .host = text_or(value, "host", ""),
            .machine = text_or(value, "machine", ""),
            .released = is_true(value, "released")};
  } catch (const Error&) {
    return {};
  }
}

// Takes the flock without waiting for its holder. It retries briefly, because a process that only
// checks the lock may hold it for a moment.
bool take_flock(int fd, const std::filesystem::path& path, Clock& clock) {
  for (int attempt = 0;; ++attempt) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK)
      throw Error(cat("cannot lock ", path.string(), ": ", errno_text(errno)),
                  "set run.root to a folder on a file system with locks");
    if (attempt == 20) return false;
    clock.sleep_s(0.01);
  }
}

[[noreturn]] void throw_in_use(const std::filesystem::path& path, const LockHolder& holder,
                               const LockRules& rules) {
  const std::string who = holder.pid > 0 && !holder.host.empty()
                              ? cat("process ", holder.pid, " on ", holder.host)
                              : "a process that left no name";
  throw Error(
      cat(rules.kind, " \"", path.parent_path().filename().string(), "\" is in use by ", who),
      "wait until it ends, or stop it");
}

// Whether the file names another machine that has not released the lock.
bool names_another_machine(const LockHolder& holder, const LockRules& rules) {
  return !rules.own_disk && holder.pid > 0 && !holder.released && !holder.machine.empty() &&
         holder.machine != rules.machine;
}

// When the file was last touched, by the server's clock. A new open() asks the server, because a
// network file system may answer fstat() from its cache.
std::optional<timespec> touched(const std::filesystem::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) return std::nullopt;
  return info.st_mtim;
}

// The flock may be ours on this machine alone. If the file is touched while we watch, another
// machine holds the lock.
void watch_for_touches(const std::filesystem::path& path, const LockHolder& holder,
                       const LockRules& rules, Clock& clock) {
  const auto before = touched(path);
  const double begin_s = clock.now_s();
  while (clock.now_s() - begin_s < rules.watch_s) {
    clock.sleep_s(rules.touch_s / 5);
    const auto now = touched(path);
    if (before && now && (now->tv_sec != before->tv_sec || now->tv_nsec != before->tv_nsec))
      throw_in_use(path, holder, rules);
  }
}

// Touches the file until a stop is requested.
void keep_touching(const std::stop_token& stop, int fd, double touch_s) {
  std::mutex mutex;
  std::condition_variable_any wakes;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    futimens(fd, nullptr);  // sets the server's time
    wakes.wait_for(lock, stop, std::chrono::duration<double>(touch_s), [] { return false; });
  }
}

}  // namespace

LockRules lock_rules(const std::filesystem::path& path, const std::string& kind) {
  return {.machine = boot_id(), .own_disk = is_own_disk(path), .kind = kind};
}

std::unique_ptr<RunLock> RunLock::take(const std::filesystem::path& file, const LockRules& rules,
                                       Clock& clock) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!fd)
    throw Error(cat("cannot write to ", rules.kind, " ", file.parent_path().string(), ": ",
                    errno_text(errno)),
                rules.kind == "run" ? "`lockstep resume RUN --into NAME` goes on in a new run"
                                    : "check that its folder can be written to");
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    throw Error(cat("cannot lock ", file.string(), ": it must be a regular file, but is not"),
                "remove it");
  if (!take_flock(fd.get(), file, clock)) throw_in_use(file, read_holder(file), rules);
  const LockHolder holder = read_holder(file);
  if (names_another_machine(holder, rules)) watch_for_touches(file, holder, rules, clock);
  return std::unique_ptr<RunLock>(new RunLock(std::move(fd), rules));
}

std::unique_ptr<RunLock> RunLock::adopt(UniqueFd fd, const LockRules& rules) {
  return std::unique_ptr<RunLock>(new RunLock(std::move(fd), rules));
}

RunLock::RunLock(UniqueFd fd, const LockRules& rules) : fd_(std::move(fd)), rules_(rules) {
  write_holder(/*released=*/false);
  if (rules_.own_disk) return;
  const BlockedSignals blocked;  // signals are for the thread that waits for them
  toucher_ = std::jthread([fd = fd_.get(), touch_s = rules_.touch_s](const std::stop_token& stop) {
    keep_touching(stop, fd, touch_s);
  });
}

RunLock::~RunLock() {
  if (toucher_.joinable()) {
    toucher_.request_stop();
    toucher_.join();
  }
  if (passed_on_) return;
  try {
    write_holder(/*released=*/true);
  } catch (const Error&) {  // without this mark, the next process must watch for touches
  }
}

void RunLock::write_holder(bool released) const {
  nlohmann::json holder = {{"pid", getpid()}, {"host", host_name()}, {"machine", rules_.machine}};
  if (released) holder["released"] = true;
  const std::string text = to_line(holder) + "\n";
  if (ftruncate(fd_.get(), 0) != 0 ||
      pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw Error(cat("cannot write the lock of the ", rules_.kind, ": ", errno_text(errno)),
                "free some space");
}

void RunLock::pass_on(int socket) {
  send_fd(socket, fd_.get());
  passed_on_ = true;
}

std::optional<LockHolder> lock_holder(const std::filesystem::path& file, const LockRules& rules,
                                      Clock& clock) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return std::nullopt;
  if (flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return read_holder(file);
  const LockHolder holder = read_holder(file);
  const auto when = touched(file);
  if (!names_another_machine(holder, rules) || !when) return std::nullopt;
  // Clocks of machines differ a little.
  constexpr double skew_s = 60;
  const double age_s = clock.wall_s() - static_cast<double>(when->tv_sec);
  return std::fabs(age_s) < rules.watch_s + skew_s ? std::optional(holder) : std::nullopt;
}

}  // namespace lockstep
