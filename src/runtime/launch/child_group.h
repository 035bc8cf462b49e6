// Watches a child process that leads a process group, and kills the group at the end.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <span>

#include "core/base/files/fd.h"

namespace lockstep {

// How the leader (the child itself) ended.
struct ExitStatus {
  int code = 0;    // exit code, or 128 + signal if it was killed
  int signal = 0;  // the signal that killed it; 0 = it exited by itself
};

// Owns a child that leads its own process group. Other processes of the group may outlive the
// child. Only the destructor reaps the child. Until then, no other process can get its process id,
// so signals cannot reach a wrong process.
class ChildGroup {
 public:
  explicit ChildGroup(pid_t leader);
  ChildGroup(ChildGroup&&) noexcept;
  ChildGroup& operator=(ChildGroup&&) = delete;
  ~ChildGroup();  // kills all processes of the group, then reaps the leader

  pid_t leader() const { return leader_; }
  // a descriptor that is readable once the leader has ended; -1 before Linux 5.3
  int pidfd() const { return pidfd_.get(); }
  // the exit status; nothing while the leader runs; does not block
  const std::optional<ExitStatus>& poll();
  // the result of the last poll()
  const std::optional<ExitStatus>& status() const { return status_; }
  bool stopped() const;  // whether a signal such as SIGSTOP has stopped the leader
  void signal_leader(int number) const;
  void signal_all(int number) const;

 private:
  pid_t leader_;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

// Whether any process of these groups still runs. Zombies do not count.
bool any_alive(std::span<const ChildGroup* const> groups);

}  // namespace lockstep
