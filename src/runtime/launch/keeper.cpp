#include "runtime/launch/keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/files/write_all.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"

namespace lockstep {
namespace {

constexpr pid_t farewell = 0;

// Runs in a fork of the launcher without exec, so it neither allocates nor takes locks. Signals
// stay blocked, and only SIGKILL ends it early.
[[noreturn]] void keep(int pipe) {
  ::setsid();
  ::prctl(PR_SET_NAME, "lockstep-keeper");
  close_all_but(pipe);
  std::array<pid_t, 4096> groups;
  std::size_t count = 0;
  for (;;) {
    pid_t group = 0;
    const ssize_t got = ::read(pipe, &group, sizeof group);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof group)) break;  // the launcher has ended
    if (group == farewell) ::_exit(0);
    if (count < groups.size()) groups[count++] = group;
  }
  for (std::size_t i = 0; i < count; ++i) ::kill(-groups[i], SIGKILL);
  ::_exit(0);
}

}  // namespace

Keeper::Keeper() {
  Pipe pipe = make_pipe();
  pid_ = fork_with_signals_blocked();
  if (pid_ == 0) keep(pipe.read.get());
  pipe_ = std::move(pipe.write);
}

Keeper::~Keeper() {
  write_all(pipe_.get(), {reinterpret_cast<const char*>(&farewell), sizeof farewell});
  pipe_.reset();
  wait_for_exit(pid_);
}

}  // namespace lockstep
