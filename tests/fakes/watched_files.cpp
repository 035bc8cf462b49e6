// Preloaded into a program under test, sees every call that changes files below a folder, and can
// record it, let it fail, or kill the process before it.
//   LOCKSTEP_TEST_FILES_BELOW  the folder; without it nothing happens
//   LOCKSTEP_TEST_FILES_IN     what to do holds only for processes that have this word among their
//                              first arguments; their messages and forks count as calls, too
//   LOCKSTEP_TEST_FILES_DIED   a file that is made by the process that is killed: only one is. Who
//                              runs to its end writes into FILE.calls how many calls it made
//   LOCKSTEP_TEST_FILES_TRACE  the record, see fakes/file_trace.h
//   LOCKSTEP_TEST_FILES        what to do, with semicolons between:
//     kill N                   SIGKILL instead of the N-th call; a write happens by half
//     CALL ERRNO N [COUNT]     the N-th CALL and those after it, COUNT in all, fail
//     jump SECONDS N           from the N-th call on the wall clock is off by so much
// Calls are counted in each process from 1 on.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "fakes/file_trace.h"

namespace {

using lockstep::testing::FileCall;
using lockstep::testing::FileRecord;

template <class Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static const auto real_##name = real(&name, #name)

struct Failure {
  std::string call;
  int error = 0;
  std::int64_t first = 0, count = 1;
};

struct Orders {
  std::string below;
  int trace = -1;
  bool chosen = false;  // by LOCKSTEP_TEST_FILES_IN
  std::int64_t kill_at = 0, jump_at = 0, jump_s = 0;
  std::vector<Failure> failures;
};

const std::map<std::string, int>& errors() {
  static const std::map<std::string, int> all{
      {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},
      {"EACCES", EACCES}, {"ENOENT", ENOENT}, {"ENOLCK", ENOLCK}};
  return all;
}

const char* value_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

// Whether the word is one of our own command, and of its first words.
bool is_argument(const std::string& word) {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  for (int i = 0; i < 4 && std::getline(in, argument, '\0'); ++i)
    if (argument == word) return true;
  return false;
}

Orders read_orders() {
  Orders orders;
  orders.below = value_of("LOCKSTEP_TEST_FILES_BELOW");
  if (orders.below.empty()) return orders;
  if (const char* const trace = value_of("LOCKSTEP_TEST_FILES_TRACE"); *trace != 0) {
    REAL(open);
    orders.trace = real_open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  if (const std::string word = value_of("LOCKSTEP_TEST_FILES_IN"); !word.empty()) {
    orders.chosen = is_argument(word);
    if (!orders.chosen || access(value_of("LOCKSTEP_TEST_FILES_DIED"), F_OK) == 0) return orders;
  }
  std::istringstream entries(value_of("LOCKSTEP_TEST_FILES"));
  for (std::string entry; std::getline(entries, entry, ';');) {
    std::istringstream words(entry);
    std::string word, error;
    words >> word;
    if (word == "kill") {
      words >> orders.kill_at;
    } else if (word == "jump") {
      words >> orders.jump_s >> orders.jump_at;
    } else {
      Failure failure{.call = word};
      words >> error >> failure.first >> failure.count;
      failure.error = errors().at(error);
      orders.failures.push_back(failure);
    }
  }
  return orders;
}

const Orders& orders() {
  static const Orders all = read_orders();
  return all;
}

std::atomic<std::int64_t> calls{0};

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) == nullptr ? path : std::string(folder) + "/" + path;
}

std::string path_of(int fd) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length <= 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

std::string path_at(int folder, const char* path) {
  return folder == AT_FDCWD || path[0] == '/' ? absolute(path) : path_of(folder) + "/" + path;
}

bool watched(const std::string& path) {
  const std::string& below = orders().below;
  return !below.empty() && path.compare(0, below.size(), below) == 0;
}

// One call: what was ordered comes before it, its record after it.
class Call {
 public:
  Call(FileCall call, const char* name, std::string path, std::string other = {})
      : watched_(watched(path)) {
    if (!watched_) return;
    record_.call = call;
    record_.path = std::move(path);
    record_.other = std::move(other);
    const std::int64_t number = ++calls;
    dies_ = number == orders().kill_at;
    for (const Failure& failure : orders().failures)
      if (failure.call == name && count(name) >= failure.first &&
          count_of_[name] < failure.first + failure.count)
        error_ = failure.error;
  }
  bool dies() const { return dies_; }
  [[noreturn]] static void die() {
    if (const char* const died = value_of("LOCKSTEP_TEST_FILES_DIED"); *died != 0) {
      REAL(open);
      real_open(died, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    }
    raise(SIGKILL);
    std::abort();
  }
  bool fails() const {
    if (error_ != 0) errno = error_;
    return error_ != 0;
  }
  FileRecord& record() { return record_; }
  template <class Result>
  Result done(Result result) {
    const int error = errno;
    if (watched_ && result >= 0 && orders().trace >= 0) {
      REAL(write);
      const std::string bytes = record_.to_bytes();
      if (real_write(orders().trace, bytes.data(), bytes.size()) < 0) std::abort();
    }
    errno = error;
    return result;
  }

 private:
  // Counted once a call, of each kind.
  std::int64_t count(const char* name) {
    const std::lock_guard lock(mutex_);
    if (!counted_) ++count_of_[name];
    counted_ = true;
    return count_of_[name];
  }

  bool watched_ = false, dies_ = false, counted_ = false;
  int error_ = 0;
  FileRecord record_;
  static std::mutex mutex_;
  static std::map<std::string, std::int64_t> count_of_;
};
std::mutex Call::mutex_;
std::map<std::string, std::int64_t> Call::count_of_;

[[gnu::destructor]] void tell_calls() {
  const char* const died = value_of("LOCKSTEP_TEST_FILES_DIED");
  if (orders().chosen && *died != 0)
    std::ofstream(std::string(died) + ".calls") << calls.load() << "\n";
}

// A call that changes no file, and that a chosen process may be killed at.
void point() {
  if (orders().chosen && ++calls == orders().kill_at) Call::die();
}

template <class Open>
int open_with(const Open& open_it, std::string path, int flags) {
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !watched(path)) return open_it();
  struct stat status {};
  const bool new_one = stat(path.c_str(), &status) != 0;
  if (!new_one && (flags & O_TRUNC) == 0) return open_it();
  Call call(new_one ? FileCall::create : FileCall::truncate, "open", std::move(path));
  if (call.dies()) Call::die();
  if (call.fails()) return -1;
  return call.done(open_it());
}

mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
}

template <class Write>
ssize_t write_with(const Write& write_it, int fd, const char* data, std::size_t bytes,
                   off64_t offset) {
  const std::string path = orders().below.empty() ? "" : path_of(fd);
  if (!watched(path)) return write_it(bytes);
  Call call(FileCall::write, "write", path);
  if (call.dies()) {
    if (write_it(bytes / 2) >= 0) Call::die();
    Call::die();
  }
  if (call.fails()) return -1;
  const ssize_t written = write_it(bytes);
  if (written >= 0) {
    const off64_t end = offset >= 0 ? offset + written : lseek64(fd, 0, SEEK_CUR);
    call.record().offset = static_cast<std::uint64_t>(end - written);
    call.record().data.assign(data, static_cast<std::size_t>(written));
  }
  return call.done(written);
}

template <class Change>
int change_with(const Change& change, FileCall kind, const char* name, std::string path,
                std::string other = {}) {
  Call call(kind, name, std::move(path), std::move(other));
  if (call.dies()) Call::die();
  return call.fails() ? -1 : call.done(change());
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  REAL(open);
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_with([&] { return real_open(path, flags, mode); }, absolute(path), flags);
}
int open64(const char* path, int flags, ...) {
  REAL(open64);
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_with([&] { return real_open64(path, flags, mode); }, absolute(path), flags);
}
int openat(int folder, const char* path, int flags, ...) {
  REAL(openat);
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_with([&] { return real_openat(folder, path, flags, mode); }, path_at(folder, path),
                   flags);
}
long syscall(long number, ...) noexcept {
  REAL(syscall);
  long words[6];
  va_list list;
  va_start(list, number);
  for (long& word : words) word = va_arg(list, long);  // as many as there can be
  va_end(list);
  const auto call = [&] {
    return real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  };
  if (number != SYS_openat2) return call();
  const auto folder = static_cast<int>(words[0]);
  const auto* const path = reinterpret_cast<const char*>(words[1]);
  const auto* const how = reinterpret_cast<const open_how*>(words[2]);
  return open_with([&] { return static_cast<int>(call()); }, path_at(folder, path),
                   static_cast<int>(how->flags));
}
ssize_t write(int fd, const void* data, std::size_t bytes) {
  REAL(write);
  return write_with([&](std::size_t n) { return real_write(fd, data, n); }, fd,
                    static_cast<const char*>(data), bytes, -1);
}
ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t offset) {
  REAL(pwrite);
  return write_with([&](std::size_t n) { return real_pwrite(fd, data, n, offset); }, fd,
                    static_cast<const char*>(data), bytes, offset);
}
ssize_t pwrite64(int fd, const void* data, std::size_t bytes, off64_t offset) {
  REAL(pwrite64);
  return write_with([&](std::size_t n) { return real_pwrite64(fd, data, n, offset); }, fd,
                    static_cast<const char*>(data), bytes, offset);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  REAL(writev);
  if (orders().below.empty() || !watched(path_of(fd))) return real_writev(fd, parts, count);
  std::string all;
  for (int i = 0; i < count; ++i)
    all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return write(fd, all.data(), all.size());
}
int fsync(int fd) {
  REAL(fsync);
  return change_with([&] { return real_fsync(fd); }, FileCall::sync, "fsync", path_of(fd));
}
int fdatasync(int fd) {
  REAL(fdatasync);
  return change_with([&] { return real_fdatasync(fd); }, FileCall::sync, "fsync", path_of(fd));
}
int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  Call call(FileCall::truncate, "truncate", path_of(fd));
  if (call.dies()) Call::die();
  call.record().offset = static_cast<std::uint64_t>(size);
  return call.fails() ? -1 : call.done(real_ftruncate(fd, size));
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  Call call(FileCall::truncate, "truncate", path_of(fd));
  if (call.dies()) Call::die();
  call.record().offset = static_cast<std::uint64_t>(size);
  return call.fails() ? -1 : call.done(real_ftruncate64(fd, size));
}
int syncfs(int fd) noexcept {
  REAL(syncfs);
  return change_with([&] { return real_syncfs(fd); }, FileCall::sync_all, "fsync", path_of(fd));
}
// Changes nothing, and can fail all the same.
int flock(int fd, int operation) noexcept {
  REAL(flock);
  for (const Failure& failure : orders().failures)
    if (failure.call == "flock" && watched(path_of(fd))) {
      errno = failure.error;
      return -1;
    }
  return real_flock(fd, operation);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  REAL(sendmsg);
  point();
  return real_sendmsg(fd, message, flags);
}
pid_t fork() noexcept {
  REAL(fork);
  point();
  return real_fork();
}
// Of spawn(); threads come another way.
int clone(int (*start)(void*), void* stack, int flags, void* argument, ...) noexcept {
  REAL(clone);
  point();
  return real_clone(start, stack, flags, argument);
}
int rename(const char* from, const char* to) {
  REAL(rename);
  return change_with([&] { return real_rename(from, to); }, FileCall::rename, "rename",
                     absolute(from), absolute(to));
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(renameat2);
  return change_with([&] { return real_renameat2(from_folder, from, to_folder, to, flags); },
                     (flags & RENAME_EXCHANGE) != 0 ? FileCall::exchange : FileCall::rename,
                     "rename", path_at(from_folder, from), path_at(to_folder, to));
}
int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  return change_with([&] { return real_mkdir(path, mode); }, FileCall::make_folder, "mkdir",
                     absolute(path));
}
int mkdirat(int folder, const char* path, mode_t mode) {
  REAL(mkdirat);
  return change_with([&] { return real_mkdirat(folder, path, mode); }, FileCall::make_folder,
                     "mkdir", path_at(folder, path));
}
int unlink(const char* path) {
  REAL(unlink);
  return change_with([&] { return real_unlink(path); }, FileCall::remove, "unlink", absolute(path));
}
int remove(const char* path) {
  REAL(remove);
  return change_with([&] { return real_remove(path); }, FileCall::remove, "unlink", absolute(path));
}
int rmdir(const char* path) {
  REAL(rmdir);
  return change_with([&] { return real_rmdir(path); }, FileCall::remove, "unlink", absolute(path));
}
int unlinkat(int folder, const char* path, int flags) {
  REAL(unlinkat);
  return change_with([&] { return real_unlinkat(folder, path, flags); }, FileCall::remove, "unlink",
                     path_at(folder, path));
}
int clock_gettime(clockid_t clock, timespec* now) {
  REAL(clock_gettime);
  const int result = real_clock_gettime(clock, now);
  const Orders& all = orders();
  if (clock == CLOCK_REALTIME && all.jump_at > 0 && calls >= all.jump_at) now->tv_sec += all.jump_s;
  return result;
}
}
