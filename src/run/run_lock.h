// The lock of a run, or of a batch: one program trains it, on this host or on another.
//
// It is an flock on RUN/lock and goes with the process, whatever happens to it. Linux hands flocks
// of NFS, CephFS, Lustre (mounted with flock) and GPFS to the server, so that other hosts see them;
// if the holder's host goes down, an NFSv4 server gives the lock up after its lease (90 s).
//
// Some mounts keep locks to their own host (NFS with nolock or local_lock, sshfs, Lustre with
// localflock). There a second sign counts: the file names the machine that holds it, and while it
// does, a thread touches the file. Another machine that got the flock watches for that first.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"

namespace lockstep {

struct LockHolder {
  std::int64_t pid = 0;
  std::string host;     // its name, for people
  std::string machine;  // the id of its boot; empty in files of earlier versions
  bool released = false;
};

// What tells machines and file systems apart, and how long signs are waited for.
struct LockRules {
  std::string machine;       // this boot of this machine
  bool own_disk = false;     // no other machine sees the file system
  double touch_s = 5;        // the holder touches the file so often
  double watch_s = 20;       // a file that was not touched for so long is nobody's
  std::string kind = "run";  // what the folder of the file is, for messages
};

// Of this machine and the file system of `path`.
LockRules lock_rules(const std::filesystem::path& path, const std::string& kind = "run");

class RunLock {
 public:
  // Throws Error: naming the holder if there is one, or saying why nothing can be locked there.
  static std::unique_ptr<RunLock> take(const std::filesystem::path& file, const LockRules& rules,
                                       Clock& clock = system_clock());
  // One that another process took and passed on. Throws Error if it cannot be written to.
  static std::unique_ptr<RunLock> adopt(UniqueFd fd, const LockRules& rules);
  // Notes in the file that it was given up in order, unless it was passed on.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // To the process at the other end of a socket, whose it is from here on. Throws Error.
  void pass_on(int socket);

 private:
  RunLock(UniqueFd fd, const LockRules& rules);
  void write_holder(bool released) const;

  UniqueFd fd_;
  LockRules rules_;
  bool passed_on_ = false;
  std::jthread toucher_;  // none on a disk of this machine's own
};

// Who holds the lock of this file, as far as can be seen from here; nothing if nobody does. Waits
// for nothing and writes nothing.
std::optional<LockHolder> lock_holder(const std::filesystem::path& file, const LockRules& rules,
                                      Clock& clock = system_clock());

}  // namespace lockstep
