#include "tools/jobs/process/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/base/files/fd.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/monitor/proc_file.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t largest_number = std::int64_t{1} << 62;

// /proc/PID/mountinfo writes spaces, tabs, newlines and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result +=
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// The number in a line such as "populated 1".
std::optional<std::int64_t> number_in(const std::string& lines, const std::string& name) {
  for (const std::string& line : split(lines, '\n'))
    if (line.starts_with(name + " "))
      return whole_number<std::int64_t>(line.substr(name.size() + 1), 0, largest_number);
  return std::nullopt;
}

// The group, followed by all groups below it. Each group is listed before its subgroups.
std::vector<fs::path> with_groups_below(const fs::path& group) {
  std::vector<fs::path> groups{group};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::error_code gone;
    const fs::path folder = groups[i];
    for (fs::directory_iterator entry(folder, gone), end; !gone && entry != end;
         entry.increment(gone)) {
      std::error_code ignored;
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) groups.push_back(*entry);
    }
  }
  return groups;
}

bool write_text(const fs::path& file, std::string_view text) {
  const UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return opened &&
         ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Whether the process is in the group. Only the last two parts of the path, "lockstep-ID/7", are
// compared. /proc/PID/cgroup shows the path from the root of the reader's namespace.
bool is_in(pid_t process, const fs::path& group) {
  const std::string part =
      cat("/", group.parent_path().filename().string(), "/", group.filename().string(), "/");
  for (const std::string& line :
       split(read_proc_file(cat("/proc/", process, "/cgroup")).text, '\n'))
    if (line.starts_with("0::")) return cat(line.substr(3), "/").find(part) != std::string::npos;
  return false;
}

bool has_this_process(const fs::path& group) {
  const std::vector<std::string> members = split(read_proc_file(group / "cgroup.procs").text, '\n');
  return std::find(members.begin(), members.end(), cat(::getpid())) != members.end();
}

// Why a process cannot be started directly in its own group here. "" if it can.
std::string problem_in(const fs::path& folder) {
  const fs::path group = folder / "try";
  kill_cgroup(group);  // may remain from a start that was killed here
  remove_cgroup(group);
  if (!make_cgroup(group))
    return cat("no group can be made in ", folder.parent_path().string(), ": ", errno_text(errno));
  std::string problem;
  if (::access((group / "cgroup.kill").c_str(), W_OK) != 0) {
    problem = "the kernel has no cgroup.kill (it came with Linux 5.14)";
  } else {
    const UniqueFd opened(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Pipe hold = make_pipe();
    const pid_t child = fork_with_signals_blocked(opened.get());
    if (child == 0) {
      char ignored = 0;
      hold.write.reset();
      [[maybe_unused]] const ssize_t got = ::read(hold.read.get(), &ignored, 1);
      ::_exit(0);
    }
    if (!is_populated(group))
      problem = cat("no process can be started in a group in ", folder.parent_path().string());
    hold.write.reset();
    wait_for_exit(child);
  }
  remove_cgroup(group);
  return problem;
}

}  // namespace

std::vector<fs::path> own_cgroups(const std::string& mounts, const std::string& groups) {
  std::vector<fs::path> found;
  for (const std::string& group : split(groups, '\n')) {
    if (!group.starts_with("0::/") || group.starts_with("0::/..")) continue;
    const std::string own = group.substr(3);
    for (const std::string& mount : split(mounts, '\n')) {
      const std::vector<std::string> words = split(mount, ' ');
      const auto dash = std::find(words.begin(), words.end(), "-");
      if (words.size() < 6 || words.end() - dash < 2 || dash[1] != "cgroup2") continue;
      const std::string root = words[3] == "/" ? "" : unescaped(words[3]);
      if (!cat(own, "/").starts_with(root + "/")) continue;
      const fs::path below = fs::path(own.substr(root.size())).relative_path();
      found.push_back(below.empty() ? fs::path(unescaped(words[4])) : unescaped(words[4]) / below);
    }
  }
  return found;
}

CgroupPlace find_cgroup_place(const std::string& name) {
  const char* const wish = std::getenv("LOCKSTEP_CGROUPS");
  if (wish != nullptr && std::string_view(wish) == "off")
    return {.why_not = "LOCKSTEP_CGROUPS is off"};
  CgroupPlace place{.why_not = "cgroup version 2 is not mounted, or not with the own group"};
  for (const fs::path& own : own_cgroups(read_proc_file("/proc/self/mountinfo").text,
                                         read_proc_file("/proc/self/cgroup").text)) {
    if (!has_this_process(own)) continue;
    place.why_not = problem_in(own / name);
    ::rmdir((own / name).c_str());
    if (place.why_not.empty()) return {.folder = own / name};
  }
  return place;
}

bool make_cgroup(const fs::path& group) {
  if (::mkdir(group.c_str(), 0755) == 0) return true;
  if (errno != ENOENT || (::mkdir(group.parent_path().c_str(), 0755) != 0 && errno != EEXIST))
    return false;
  // The write fails if the parent group may not delegate the controller. The controller is useful
  // but not required.
  write_text(group.parent_path() / "cgroup.subtree_control", "+memory");
  return ::mkdir(group.c_str(), 0755) == 0;
}

bool remove_cgroup(const fs::path& group) {
  const auto removed = [](const fs::path& one) {
    return ::rmdir(one.c_str()) == 0 || errno == ENOENT;
  };
  if (removed(group)) return true;
  const std::vector<fs::path> groups = with_groups_below(group);
  for (auto one = groups.rbegin(); one != groups.rend(); ++one) removed(*one);
  return removed(group);
}

bool is_populated(const fs::path& group) {
  const ProcFile read = read_proc_file(group / "cgroup.events");
  if (read.error != 0) return read.error != ENOENT && read.error != ENODEV;
  return number_in(read.text, "populated").value_or(1) != 0;
}

std::vector<pid_t> processes_in(const fs::path& group) {
  std::vector<pid_t> found;
  for (const fs::path& one : with_groups_below(group))
    for (const std::string& line : split(read_proc_file(one / "cgroup.procs").text, '\n'))
      if (const auto process = whole_number<pid_t>(line, 1, 1 << 30)) found.push_back(*process);
  return found;
}

void kill_cgroup(const fs::path& group) { write_text(group / "cgroup.kill", "1"); }

std::set<pid_t> signal_cgroup(const fs::path& group, int number) {
  std::set<pid_t> told;
  for (const pid_t process : processes_in(group))
    if (signal_if(process, number, [&] { return is_in(process, group); })) told.insert(process);
  return told;
}

CgroupUse read_use(const fs::path& group) {
  CgroupUse use;
  if (const auto time = number_in(read_proc_file(group / "cpu.stat").text, "usage_usec"))
    use.cpu_s = static_cast<double>(*time) * 1e-6;
  use.memory_peak_bytes = whole_number<std::int64_t>(
      trim(read_proc_file(group / "memory.peak").text), 0, largest_number);
  return use;
}

}  // namespace lockstep
