// The lock of a run or a batch. Only one program at a time may train a run, on this host or
// another.
//
// The lock is an flock on RUN/lock, so it ends with the process in any case. On NFS, CephFS, Lustre
// (mounted with flock) and GPFS, Linux passes flocks to the server, and other hosts see them. If
// the holder's host goes down, an NFSv4 server releases the lock after its lease (90 s).
//
// Some mounts keep locks local to a host: NFS with nolock or local_lock, sshfs, and Lustre with
// localflock. So there is a second check. The file names the machine that holds the lock, and a
// thread of the holder updates the file's time regularly. A machine that gets the flock on a file
// of another machine first watches for such updates.
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

// Identifies machines and file systems, and sets the waiting times.
struct LockRules {
  std::string machine;       // id of this boot of this machine
  bool own_disk = false;     // only this machine sees the file system
  double touch_s = 5;        // seconds between two updates of the file's time
  double watch_s = 20;       // after this time without an update, the file has no holder
  std::string kind = "run";  // the kind of folder, for messages
};

// The rules for this machine and the file system of `path`.
LockRules lock_rules(const std::filesystem::path& path, const std::string& kind = "run");

class RunLock {
 public:
  // Takes the lock. Throws Error that names the holder if there is one, or else the reason why the
  // file cannot be locked.
  static std::unique_ptr<RunLock> take(const std::filesystem::path& file, const LockRules& rules,
                                       Clock& clock = system_clock());
  // Takes over a lock that another process passed on. Throws Error if the file is not writable.
  static std::unique_ptr<RunLock> adopt(UniqueFd fd, const LockRules& rules);
  // Unless the lock was passed on, writes into the file that it was released.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Passes the lock to the process at the other end of a socket. That process then owns it. Throws
  // Error.
  void pass_on(int socket);

 private:
  RunLock(UniqueFd fd, const LockRules& rules);
  void write_holder(bool released) const;

  UniqueFd fd_;
  LockRules rules_;
  bool passed_on_ = false;
  std::jthread toucher_;  // updates the file's time; not started if own_disk
};

// The holder of this file's lock, as far as this machine can see. Nothing if there is none. Does
// not wait and does not write.
std::optional<LockHolder> lock_holder(const std::filesystem::path& file, const LockRules& rules,
                                      Clock& clock = system_clock());

}  // namespace lockstep
