#include "tools/monitor/process_info.h"

#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/monitor/proc_file.h"
#include "tools/monitor/secrets.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string user_name(uid_t uid) {
  passwd entry{}, *found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return found->pw_name;
  return cat(uid);
}

// The words of a command. They may contain spaces. Empty for kernel threads, zombies and ended
// processes.
std::vector<std::string> command_words(int pid, const fs::path& proc) {
  std::string words = read_proc_file(proc / std::to_string(pid) / "cmdline").text;
  while (!words.empty() && words.back() == '\0') words.pop_back();
  return words.empty() ? std::vector<std::string>() : split(words, '\0');
}

// If a program's path contains a space, it would look like two words, so only the program's name is
// kept. A single word may also be a title with a whole command. The word is a path only if it is
// the program's file.
void name_program(std::vector<std::string>& words, const fs::path& folder) {
  if (words.empty() || words[0].find('/') == words[0].npos || words[0].find(' ') == words[0].npos)
    return;
  std::error_code unreadable;
  if (words.size() == 1 && fs::read_symlink(folder / "exe", unreadable) != words[0]) return;
  words[0] = fs::path(words[0]).filename();
}

}  // namespace

std::optional<ProcessInfo> process_info(int pid, const fs::path& proc) {
  constexpr std::size_t start_field = 22 - 3;  // in ticks since boot
  const fs::path folder = proc / std::to_string(pid);
  struct stat owner {};
  const ProcStat stat = parse_proc_stat(read_proc_file(folder / "stat").text);
  if (pid <= 0 || stat.fields.size() <= start_field || ::stat(folder.c_str(), &owner) != 0)
    return std::nullopt;
  std::vector<std::string> words = command_words(pid, proc);
  name_program(words, folder);
  const double uptime_s = std::strtod(read_proc_file(proc / "uptime").text.c_str(), nullptr);
  return ProcessInfo{.user = user_name(owner.st_uid),
                     .command = words.empty() ? cat("[", stat.name, "]") : without_secrets(words),
                     .age_s = std::max(0.0, uptime_s - ticks_s(stat.fields[start_field]))};
}

bool may_have_numbers_of_host(const fs::path& proc) {
  constexpr const char* first_namespace = "pid:[4026531836]";  // PROC_PID_INIT_INO of the kernel
  const char* other = std::getenv("LOCKSTEP_NVML");
  std::error_code unreadable;
  const fs::path own = fs::read_symlink(proc / "self/ns/pid", unreadable);
  // WSL runs in its own pid namespace, and its GPUs use another device file.
  if (std::error_code ignored; fs::exists(proc.parent_path() / "dev/dxg", ignored)) return false;
  return !(other && *other) && !unreadable && own != first_namespace;
}

std::optional<bool> has_gpu_files(int pid, const fs::path& proc) {
  std::error_code error;
  for (fs::directory_iterator entry(proc / std::to_string(pid) / "fd", error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code closed;
    if (fs::read_symlink(entry->path(), closed).native().starts_with("/dev/nvidia")) return true;
  }
  return error ? std::nullopt : std::optional(false);
}

std::set<int> process_tree(int pid, const fs::path& proc) {
  std::multimap<int, int> children;  // key: parent
  for (const int one : process_numbers(proc)) {
    const ProcStat stat = parse_proc_stat(read_proc_file(proc / std::to_string(one) / "stat").text);
    if (stat.fields.size() > 1)
      children.emplace(whole_number<int>(stat.fields[1]).value_or(0), one);
  }
  std::set<int> tree;
  std::vector<int> open{pid};
  if (!process_info(pid, proc)) return tree;
  while (!open.empty()) {
    const int one = open.back();
    open.pop_back();
    if (!tree.insert(one).second) continue;
    const auto [begin, end] = children.equal_range(one);
    for (auto child = begin; child != end; ++child) open.push_back(child->second);
  }
  return tree;
}

}  // namespace lockstep
