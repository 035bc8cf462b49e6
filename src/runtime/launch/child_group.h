// A process group that outlives its leader, observed through the leader kept as a zombie.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <span>

#include "core/base/files/fd.h"

namespace lockstep {

// The leader's exit status.
struct ExitStatus {
  int code = 0;    // exit code, or 128 + signal when killed
  int signal = 0;  // 0: it exited by itself
};

// Owns a child that leads its own process group. Only the destructor reaps the child, so that its
// number cannot pass to another process and signals reach nobody else.
class ChildGroup {
 public:
  explicit ChildGroup(pid_t leader);
  ChildGroup(ChildGroup&&) noexcept;
  ChildGroup& operator=(ChildGroup&&) = delete;
  ~ChildGroup();  // kills the remaining group, then reaps the leader

  pid_t leader() const { return leader_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the leader ended; -1 before Linux 5.3
  const std::optional<ExitStatus>& poll();    // nothing while the leader runs; does not block
  const std::optional<ExitStatus>& status() const { return status_; }
  bool stopped() const;  // whether a signal such as SIGSTOP has stopped the leader
  void signal_leader(int number) const;
  void signal_all(int number) const;

 private:
  pid_t leader_;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

// Whether any process of these groups still runs; zombies do not.
bool any_alive(std::span<const ChildGroup* const> groups);

}  // namespace lockstep
