#include "tools/cli/abtest/timed_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep::cli {
namespace {

constexpr double look_every_s = 0.1, end_grace_s = 3;

// Waits for a child process, and reacts to deadlines and interrupts.
class Watch {
 public:
  Watch(pid_t child, const TimedOrder& order, const std::function<int()>& interrupted)
      : child_(child),
        interrupted_(interrupted),
        handle_(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))),
        begin_s_(system_clock().now_s()),
        timeout_s_(order.timeout_s) {}

  // Returns when the child has ended. The child is not reaped yet.
  void until_end(TimedRun& run) {
    while (!ended()) {
      const double now_s = system_clock().now_s();
      if (!told_ && timeout_s_ && now_s - begin_s_ > *timeout_s_) {
        run.timed_out = true;
        tell(SIGTERM, now_s);
      }
      const int signal = interrupted_();
      if (!told_ && signal != 0) {
        run.interrupted = true;
        tell(signal, now_s);
      }
      if (told_ && now_s > kill_at_s_) ::kill(-child_, SIGKILL);
    }
  }

 private:
  void tell(int signal, double now_s) {
    told_ = true;
    kill_at_s_ = now_s + end_grace_s;
    ::kill(-child_, signal);
  }

  bool ended() {
    double wait_s = look_every_s;
    if (timeout_s_ && !told_)
      wait_s = std::clamp(begin_s_ + *timeout_s_ - system_clock().now_s(), 0.001, wait_s);
    if (handle_) {
      pollfd entry = {.fd = handle_.get(), .events = POLLIN, .revents = 0};
      return ::poll(&entry, 1, static_cast<int>(wait_s * 1000)) == 1;
    }
    // The kernel has no pidfds. Checks often enough for a resolution of a millisecond.
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child_)
      return true;
    system_clock().sleep_s(0.0005);
    return false;
  }

  pid_t child_;
  const std::function<int()>& interrupted_;
  UniqueFd handle_;
  double begin_s_;
  std::optional<double> timeout_s_;
  bool told_ = false;
  double kill_at_s_ = 0;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::int64_t bytes_of(const rusage& usage) {
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void end_orphans() {
  const std::vector<pid_t> left = own_children();
  if (left.empty()) return;
  signal_descendants(left, SIGKILL);
  reap_children();
}

UniqueFd new_output(const std::filesystem::path& path) {
  UniqueFd file = above_stderr(
      UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)));
  if (!file) throw Error(cat(path.string(), ": ", errno_text(errno)));
  return file;
}

}  // namespace

std::int64_t peak_floor_bytes() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return bytes_of(own);
}

TimedRun run_timed(const TimedOrder& order, const std::function<int()>& interrupted) {
  const UniqueFd output = new_output(order.output);
  TimedRun run;
  run.started = system_clock().wall_s();
  const double begin_s = system_clock().now_s();
  const pid_t child = spawn({.argv = order.words,
                             .environment = order.environment,
                             .stdout_fd = output.get(),
                             .stderr_fd = output.get(),
                             .inherited = {}});
  Watch(child, order, interrupted).until_end(run);
  run.wall_s = system_clock().now_s() - begin_s;
  // Done before the child is reaped, because its pid identifies the process group until then.
  ::kill(-child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) continue;
  if (order.owns_orphans) end_orphans();
  run.user_s = seconds_of(usage.ru_utime);
  run.system_s = seconds_of(usage.ru_stime);
  if (bytes_of(usage) > peak_floor_bytes()) run.peak_bytes = bytes_of(usage);
  run.code = exit_code(status);
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return run;
}

}  // namespace lockstep::cli
