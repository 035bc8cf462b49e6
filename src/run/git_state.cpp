// Asks git about the user's folder.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "run/run_dir.h"

extern char** environ;

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

pid_t start_git(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

// What `git ARGUMENTS` prints in `folder`; nothing if it fails or is not installed.
std::optional<std::string> git(const std::filesystem::path& folder,
                               const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  UniqueFd reading(ends[0]), writing(ends[1]);
  std::vector<std::string> argv = {"git", "--no-optional-locks", "-C", folder.string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const pid_t pid = start_git(argv, writing.get());
  if (pid < 0) return std::nullopt;
  writing.reset();
  std::optional<std::string> text = read_until(reading.get(), system_clock().now_s() + patience_s);
  if (!text) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return trim(*text);
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
