#include "runtime/launch/child_group.h"

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace lockstep {
namespace {

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u));  // pidfds are always close-on-exec
#else
  return -1;
#endif
}

struct ProcessState {
  char letter = 'X';  // the letter that ps shows; X = gone
  pid_t group = -1;
};

ProcessState state_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  // The line is "PID (NAME) STATE PPID PGRP …". NAME may contain any character.
  const std::size_t name_end = line.rfind(')');
  ProcessState state;
  int parent = 0;
  if (name_end == line.npos || std::sscanf(line.c_str() + name_end + 1, " %c %d %d", &state.letter,
                                           &parent, &state.group) != 3) {
    return {};
  }
  return state;
}

// The process group of a running process. -1 if it is gone or a zombie.
pid_t group_of(const char* pid) {
  const ProcessState state = state_of(pid);
  return state.letter == 'Z' || state.letter == 'X' ? -1 : state.group;
}

}  // namespace

ChildGroup::ChildGroup(pid_t leader) : leader_(leader), pidfd_(open_pidfd(leader)) {}

ChildGroup::ChildGroup(ChildGroup&& other) noexcept
    : leader_(std::exchange(other.leader_, -1)),
      pidfd_(std::move(other.pidfd_)),
      status_(other.status_) {}

ChildGroup::~ChildGroup() {
  if (leader_ <= 0) return;
  ::kill(-leader_, SIGKILL);
  // A process that hangs in a driver does not end. It is left to init after a few seconds.
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  while (pidfd_ && !status_ && ::poll(&ended, 1, 5000) < 0 && errno == EINTR) continue;
  while (::waitpid(leader_, nullptr, pidfd_ ? WNOHANG : 0) < 0 && errno == EINTR) continue;
}

const std::optional<ExitStatus>& ChildGroup::poll() {
  if (status_) return status_;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return status_;
  }
  if (info.si_code == CLD_EXITED) {
    status_ = ExitStatus{.code = info.si_status};
  } else {
    status_ = ExitStatus{.code = 128 + info.si_status, .signal = info.si_status};
  }
  return status_;
}

bool ChildGroup::stopped() const {
  return !status_ && state_of(std::to_string(leader_)).letter == 'T';
}

void ChildGroup::signal_leader(int number) const { ::kill(leader_, number); }

void ChildGroup::signal_all(int number) const { ::kill(-leader_, number); }

bool any_alive(std::span<const ChildGroup* const> groups) {
  DIR* processes = ::opendir("/proc");
  if (!processes) return false;
  bool alive = false;
  while (const dirent* entry = alive ? nullptr : ::readdir(processes)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    const pid_t group = group_of(entry->d_name);
    alive = std::any_of(groups.begin(), groups.end(),
                        [&](const ChildGroup* each) { return each->leader() == group; });
  }
  ::closedir(processes);
  return alive;
}

}  // namespace lockstep
