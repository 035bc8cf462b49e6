// The lock of a run or a batch: only one program trains it, on this host or another.
//
// It is an flock on RUN/lock and ends with the process, however that ends. On NFS, CephFS, Lustre
// (mounted with flock) and GPFS Linux passes flocks to the server, so that other hosts see them. If
// the holder's host goes down, an NFSv4 server releases the lock after its lease (90 s).
//
// Some mounts keep locks local to a host (NFS with nolock or local_lock, sshfs, Lustre with
// localflock). So a second sign counts: the file names the machine that holds it, and a thread of
// the holder keeps touching the file. A machine that gets the flock on a file of another machine
// first watches for such touches.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/files/fd.h"

namespace lockstep {

struct LockHolder {
  std::int64_t pid = 0;
  std::string host;     // the machine's name, for people
  std::string machine;  // id of the machine's boot; empty in files of earlier versions
  bool released = false;
};

// How machines and file systems are told apart, and how long to wait for signs.
struct LockRules {
  std::string machine;       // id of this boot of this machine
  bool own_disk = false;     // no other machine sees the file system
  double touch_s = 5;        // seconds between the holder's touches of the file
  double watch_s = 20;       // after this long without a touch, the file belongs to nobody
  std::string kind = "run";  // the kind of folder, for messages
};

// Rules for this machine and the file system of `path`.
LockRules lock_rules(const std::filesystem::path& path, const std::string& kind = "run");

class RunLock {
 public:
  // Throws Error naming the holder if there is one, or saying why the file cannot be locked.
  static std::unique_ptr<RunLock> take(const std::filesystem::path& file, const LockRules& rules,
                                       Clock& clock = system_clock());
  // A lock that another process took and passed on. Throws Error if the file is not writable.
  static std::unique_ptr<RunLock> adopt(UniqueFd fd, const LockRules& rules);
  // Notes in the file that the lock was released in order, unless it was passed on.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Passes the lock to the process at the other end of a socket, which owns it from then on. Throws
  // Error.
  void pass_on(int socket);

 private:
  RunLock(UniqueFd fd, const LockRules& rules);
  void write_holder(bool released) const;

  UniqueFd fd_;
  LockRules rules_;
  bool passed_on_ = false;
  std::jthread toucher_;  // none on a disk of this machine's own
};

// The holder of this file's lock, as far as visible from here; nothing if there is none. Does not
// wait or write.
std::optional<LockHolder> lock_holder(const std::filesystem::path& file, const LockRules& rules,
                                      Clock& clock = system_clock());

}  // namespace lockstep
