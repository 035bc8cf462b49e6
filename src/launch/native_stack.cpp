// Stacks by a debugger's own program: what reads symbols well is no small thing.
#include "launch/native_stack.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "base/text.h"
#include "launch/child_group.h"
#include "launch/rank_environment.h"

namespace lockstep {
namespace {

constexpr double look_again_s = 0.02;

std::vector<std::vector<std::string>> debuggers(pid_t process) {
  const std::string pid = std::to_string(process);
  return {{"eu-stack", "--pid=" + pid},
          {"gdb", "--batch", "--nx", "-iex", "set debuginfod enabled off", "-p", pid, "-ex",
           "thread apply all backtrace"}};
}

// Nothing where the program is not there.
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

// "" or how it failed.
std::string wait_for(ChildGroup& debugger, double limit_s) {
  const double end_s = system_clock().now_s() + limit_s;
  while (!debugger.poll()) {
    if (system_clock().now_s() > end_s) return cat("took longer than ", limit_s, " s");
    system_clock().sleep_s(look_again_s);
  }
  return debugger.status()->code == 0 ? "" : cat("exit code ", debugger.status()->code);
}

}  // namespace

std::string write_stacks(pid_t process, const std::filesystem::path& file, double limit_s) {
  const UniqueFd output(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!output) return cat("cannot write ", file.string(), ": ", errno_text(errno));
  for (std::vector<std::string>& words : debuggers(process)) {
    const std::string name = words[0];
    auto debugger = start(std::move(words), output.get());
    if (!debugger) continue;
    const std::string fault = wait_for(*debugger, limit_s);
    return fault.empty() ? "" : cat(name, ": ", fault);
  }
  ::unlink(file.c_str());
  return "neither eu-stack nor gdb is installed";
}

}  // namespace lockstep
