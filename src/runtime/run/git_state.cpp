// Reads commit, branch and changes of the user's work tree from git.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

// This limits the wait, so that a work tree on a slow file system does not delay training.
constexpr double patience_s = 5;
constexpr std::size_t most_bytes = std::size_t{256} << 20;  // limit for git's output
constexpr std::size_t most_paths = 500;  // limit for files whose attributes are read

// Reads the descriptor to its end. Returns nothing if that takes too long or gives too many bytes.
std::optional<std::string> read_until(int fd, double deadline_s) {
  std::string text;
  char buffer[4096];
  while (text.size() < most_bytes) {
    const double left_s = deadline_s - system_clock().now_s();
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    if (left_s <= 0 || poll(&entry, 1, static_cast<int>(left_s * 1000) + 1) == 0)
      return std::nullopt;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

// Our environment without variables by which git would start other programs, and without fetching.
// A fetch of objects that a partial clone lacks would start programs named in its configuration.
std::vector<std::string> git_environment() {
  // clang-format off
  static const std::set<std::string_view> dropped{
      "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF",
      "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "PAGER",
      "SSH_ASKPASS", "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL", "GIT_TERMINAL_PROMPT"};
  // clang-format on
  std::vector<std::string> environment{
      // Known to git 2.45 and later, and to older versions with security updates.
      "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!dropped.contains(variable.substr(0, variable.find('=')))) environment.emplace_back(*entry);
  }
  return environment;
}

// Runs git in a folder, for a few seconds in total. No program named in the configuration is
// started, because the work tree's author may have written it.
class Git {
 public:
  explicit Git(const std::filesystem::path& folder) : folder_(folder.string()) {}

  // Returns the output of `git OPTIONS ARGUMENTS`. Returns nothing if git fails, takes too long or
  // is not installed.
  std::optional<std::string> ask(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv{"git", "--no-optional-locks", "--no-pager", "-C", folder_};
    for (const char* setting : {"core.fsmonitor=", "core.hooksPath=/dev/null"})
      argv.insert(argv.end(), {"-c", setting});
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    try {
      Pipe pipe = make_pipe();
      const pid_t pid = spawn({.argv = std::move(argv),
                               .environment = git_environment(),
                               .stdout_fd = pipe.write.get(),
                               .inherited = {}});
      pipe.write.reset();
      std::optional<std::string> text = read_until(pipe.read.get(), deadline_s_);
      if (!text) kill(-pid, SIGKILL);  // also ends processes that git started
      const int code = wait_for_exit(pid);
      return text && code == 0 ? std::move(text) : std::nullopt;
    } catch (const Error&) {  // git could not be started
      return std::nullopt;
    }
  }

  std::optional<std::string> line(const std::vector<std::string>& arguments) const {
    const auto text = ask(arguments);
    return text ? std::optional(trim(*text)) : std::nullopt;
  }

  // Asks in another folder, within the remaining time.
  Git at(const std::string& folder) const {
    Git other = *this;
    other.folder_ = folder;
    return other;
  }

  std::optional<std::string> top() const { return line({"rev-parse", "--show-toplevel"}); }

 private:
  std::string folder_;
  double deadline_s_ = system_clock().now_s() + patience_s;
};

// Options that turn off every content filter in any configuration. Filters of the user are
// included, because git-lfs reads names of programs from the work tree's configuration. Returns
// nothing if git does not answer, or if a filter's name cannot be part of an option.
std::optional<std::vector<std::string>> without_filters(const Git& git) {
  const auto names = git.ask({"config", "--list", "--includes", "--name-only", "-z"});
  if (!names) return std::nullopt;
  std::set<std::string> drivers;
  for (const std::string& name : split(*names, '\0')) {
    if (!name.starts_with("filter.")) continue;
    if (name.find_first_of("=\n") != name.npos) return std::nullopt;
    drivers.insert(name.substr(0, name.rfind('.')));
  }
  std::vector<std::string> options;
  for (const std::string& driver : drivers)
    for (const char* setting : {".clean=", ".smudge=", ".process=", ".required=false"})
      options.insert(options.end(), {"-c", driver + setting});
  return options;
}

// Whether at least one of the files has no filter. Checks at most `most_paths` files.
bool any_without_filter(const Git& git, std::vector<std::string> paths) {
  paths.resize(std::min(paths.size(), most_paths));
  paths.insert(paths.begin(), {"check-attr", "-z", "filter", "--"});
  const auto attributes = git.ask(paths);
  if (!attributes) return false;
  const std::vector<std::string> fields = split(*attributes, '\0');  // path, "filter", value
  for (std::size_t i = 2; i < fields.size(); i += 3)
    if (fields[i] == "unspecified" || fields[i] == "unset") return true;
  return false;
}

// Whether tracked files, or the commits of submodules, have changed. Returns nothing if git does
// not answer, or if only a content filter could tell. Untracked files, such as run directories, are
// ignored. `git` must point to the top of a work tree.
std::optional<bool> any_changed(const Git& git) {
  auto options = without_filters(git);
  if (!options) return std::nullopt;
  const bool any_filter = !options->empty();
  // Git finds renames by content, and content would be filtered.
  options->insert(options->end(), {"-c", "status.renames=false", "-c", "diff.renames=false"});
  const auto changes =
      git.ask({"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"},
              *options);
  if (!changes) return std::nullopt;
  std::vector<std::string> edited;
  for (const std::string& change : split(*changes, '\0')) {  // "XY PATH"
    if (change.size() < 4) continue;
    // A change that is visible without the file's content.
    if (!change.starts_with(" M ")) return true;
    edited.push_back(change.substr(3));
  }
  if (edited.empty()) return false;
  if (!any_filter || any_without_filter(git, std::move(edited))) return true;
  return std::nullopt;
}

std::optional<std::vector<std::string>> submodules(const Git& git) {
  const auto files = git.ask({"ls-files", "--stage", "-z"});  // "MODE HASH STAGE\tPATH"
  if (!files) return std::nullopt;
  std::vector<std::string> paths;
  for (const std::string& file : split(*files, '\0'))
    if (file.starts_with("160000 ")) paths.push_back(file.substr(file.find('\t') + 1));
  return paths;
}

// Each submodule is checked separately, because git would run there with the submodule's own
// configuration.
std::optional<bool> is_dirty(const Git& git, const std::filesystem::path& top) {
  std::optional<bool> dirty = any_changed(git);
  if (dirty == true) return dirty;
  const auto paths = submodules(git);
  if (!paths) return std::nullopt;
  for (const std::string& path : *paths) {
    const std::filesystem::path folder = top / path;
    std::error_code error;
    // A submodule that is not checked out.
    if (!std::filesystem::exists(folder / ".git", error) && !error) continue;
    const Git inside = git.at(folder.string());
    const auto changed = inside.top() == folder.string() ? is_dirty(inside, folder) : std::nullopt;
    if (changed == true) return true;
    if (!changed) dirty.reset();
  }
  return dirty;
}

}  // namespace

nlohmann::json git_state(const std::filesystem::path& folder) {
  const Git git(folder);
  const auto commit = git.line({"rev-parse", "--verify", "HEAD"});
  if (!commit || commit->empty()) return nullptr;
  nlohmann::json state = {{"commit", *commit}, {"branch", nullptr}, {"dirty", nullptr}};
  // The command fails if a commit without a branch is checked out.
  if (const auto branch = git.line({"symbolic-ref", "--short", "-q", "HEAD"}))
    state["branch"] = *branch;
  if (const auto top = git.top())
    if (const auto dirty = is_dirty(git.at(*top), *top)) state["dirty"] = *dirty;
  return state;
}

}  // namespace lockstep
