// The lock of a run or a batch. It ensures that only one program at a time trains a run, even if
// several hosts share the file system.
//
// The lock is an flock on RUN/lock, so the kernel releases it when the process ends. On NFS,
// CephFS, Lustre (mounted with flock) and GPFS, Linux passes flocks to the server, and other hosts
// see them. If the holder's host goes down, an NFSv4 server releases the lock when its lease
// expires (90 s).
//
// Some mounts keep locks local to a host: NFS with nolock or local_lock, sshfs, and Lustre with
// localflock. So there is a second check. The file names the machine that holds the lock, and a
// thread of the holder updates the file's modification time regularly. A process that gets the
// flock, but finds another machine's name in the file, first watches for such updates.
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
  std::string host;     // the machine's name, for messages
  std::string machine;  // id of the machine's boot; empty in files of earlier versions
  bool released = false;
};

// Describes this machine and the file system, and sets the waiting times of the lock.
struct LockRules {
  std::string machine;       // id of this boot of this machine
  bool own_disk = false;     // whether only this machine can use the file system
  double touch_s = 5;        // seconds between two updates of the file's modification time
  double watch_s = 20;       // if the time is not updated for so long, nobody holds the lock
  std::string kind = "run";  // the kind of folder, for messages
};

// The rules for this machine and the file system of `path`.
LockRules lock_rules(const std::filesystem::path& path, const std::string& kind = "run");

class RunLock {
 public:
  // Takes the lock. If another process holds it, throws Error that names the holder. If the file
  // cannot be locked, throws Error with the reason.
  static std::unique_ptr<RunLock> take(const std::filesystem::path& file, const LockRules& rules,
                                       Clock& clock = system_clock());
  // Takes over a lock that another process passed on. Throws Error if the file is not writable.
  static std::unique_ptr<RunLock> adopt(UniqueFd fd, const LockRules& rules);
  // Releases the lock, and records this in the file. Does nothing if the lock was passed on.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Passes the lock to the process at the other end of a socket, which then holds it. Throws Error
  // if the descriptor cannot be sent.
  void pass_on(int socket);

 private:
  RunLock(UniqueFd fd, const LockRules& rules);
  void write_holder(bool released) const;

  UniqueFd fd_;
  LockRules rules_;
  bool passed_on_ = false;
  std::jthread toucher_;  // updates the modification time; not started if own_disk
};

// Returns the holder of the lock, as far as this machine can see. Returns nothing if nobody holds
// it. Does not wait and does not write.
std::optional<LockHolder> lock_holder(const std::filesystem::path& file, const LockRules& rules,
                                      Clock& clock = system_clock());

}  // namespace lockstep
