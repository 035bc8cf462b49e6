// A process group that outlives its leader, seen through the leader that is kept as a zombie.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <span>

#include "base/fd.h"

namespace lockstep {

// How the leader ended.
struct ExitStatus {
  int code = 0;    // of exit, 128 + signal when killed
  int signal = 0;  // 0: it exited by itself
};

// Owns a child that leads its own process group. The child is reaped by the destructor only, so
// that until then its number cannot pass to another process and signals reach nobody else.
class ChildGroup {
 public:
  explicit ChildGroup(pid_t leader);
  ChildGroup(ChildGroup&&) noexcept;
  ChildGroup& operator=(ChildGroup&&) = delete;
  ~ChildGroup();  // kills what is left of the group, then reaps the leader

  pid_t leader() const { return leader_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the leader ended; -1 before Linux 5.3
  const std::optional<ExitStatus>& poll();    // nothing while it runs; does not block
  const std::optional<ExitStatus>& status() const { return status_; }
  bool stopped() const;  // by a signal such as SIGSTOP
  void signal_leader(int number) const;
  void signal_all(int number) const;

 private:
  pid_t leader_;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

// Whether any process of these groups runs still (zombies do not).
bool any_alive(std::span<const ChildGroup* const> groups);

}  // namespace lockstep
