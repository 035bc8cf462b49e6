// Asks git about the user's folder.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/text.h"
#include "run/run_dir.h"

namespace lockstep {
namespace {

constexpr double patience_s = 5;  // a work tree on a slow file system must not hold up training

// All that the descriptor gives until its end; nothing if that takes too long.
std::optional<std::string> read_until(int fd, double deadline_s) {
  std::string text;
  char buffer[4096];
  while (true) {
    const double left_s = deadline_s - system_clock().now_s();
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    if (left_s <= 0 || poll(&entry, 1, static_cast<int>(left_s * 1000) + 1) == 0)
      return std::nullopt;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

// What `git ARGUMENTS` prints in `folder`; nothing if it fails or is not installed.
std::optional<std::string> git(const std::filesystem::path& folder,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"git", "--no-optional-locks", "-C", folder.string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  try {
    Pipe pipe = make_pipe();
    const pid_t pid = spawn({.argv = std::move(argv),
                             .environment = {},
                             .stdout_fd = pipe.write.get(),
                             .inherited = {}});
    pipe.write.reset();
    const std::optional<std::string> text =
        read_until(pipe.read.get(), system_clock().now_s() + patience_s);
    if (!text) kill(pid, SIGKILL);
    const int code = wait_for_exit(pid);
    return text && code == 0 ? std::optional(trim(*text)) : std::nullopt;
  } catch (const Error&) {  // it could not be started
    return std::nullopt;
  }
}

}  // namespace

nlohmann::json git_state(const std::filesystem::path& folder) {
  const auto commit = git(folder, {"rev-parse", "--verify", "HEAD"});
  if (!commit || commit->empty()) return nullptr;
  nlohmann::json state = {{"commit", *commit}, {"branch", nullptr}, {"dirty", nullptr}};
  // Fails where a commit and no branch is checked out.
  if (const auto branch = git(folder, {"symbolic-ref", "--short", "-q", "HEAD"}))
    state["branch"] = *branch;
  // Files that git does not know, such as the run directories, are no change.
  if (const auto changes = git(folder, {"status", "--porcelain", "--untracked-files=no"}))
    state["dirty"] = !changes->empty();
  return state;
}

}  // namespace lockstep
