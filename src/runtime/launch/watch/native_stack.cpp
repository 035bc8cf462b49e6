// Prints stacks with the program of a debugger, because reading symbols reliably is difficult.
#include "runtime/launch/watch/native_stack.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "runtime/launch/child_group.h"
#include "runtime/launch/ranks/rank_environment.h"

namespace lockstep {
namespace {

std::vector<std::vector<std::string>> debuggers(pid_t process) {
  const std::string pid = std::to_string(process);
  return {{"eu-stack", "--pid=" + pid},
          {"gdb", "--batch", "--nx", "-iex", "set debuginfod enabled off", "-p", pid, "-ex",
           "thread apply all backtrace"}};
}

// Returns nothing if the program is not installed.
std::optional<ChildGroup> start(std::vector<std::string> words, int output) {
  try {
    return ChildGroup(spawn({.argv = std::move(words),
                             .environment = as_assignments(this_environment()),
                             .stdout_fd = output,
                             .stderr_fd = output,
                             .inherited = {}}));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

StackDump::StackDump(pid_t process, const std::filesystem::path& file, double limit_s)
    : end_s_(system_clock().now_s() + limit_s), limit_s_(limit_s) {
  const UniqueFd output(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!output) {
    fault_ = cat("cannot write ", file.string(), ": ", errno_text(errno));
    return;
  }
  for (std::vector<std::string>& words : debuggers(process)) {
    name_ = words[0];
    if (auto started = start(std::move(words), output.get())) {
      debugger_.emplace(std::move(*started));
      return;
    }
  }
  ::unlink(file.c_str());
  fault_ = "neither eu-stack nor gdb is installed";
}

std::optional<std::string> StackDump::poll() {
  if (!debugger_ || !fault_.empty()) return fault_;
  if (const auto& status = debugger_->poll())
    return status->code == 0 ? "" : cat(name_, ": exit code ", status->code);
  if (system_clock().now_s() <= end_s_) return std::nullopt;
  debugger_->signal_all(SIGKILL);
  fault_ = cat(name_, ": took longer than ", limit_s_, " s");
  return fault_;
}

}  // namespace lockstep
