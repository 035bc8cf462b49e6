#include "monitor/process_info.h"

#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/text.h"
#include "monitor/proc_file.h"

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

std::string command_of(const fs::path& folder, const std::string& name) {
  std::string words = read_proc_file(folder / "cmdline").text;
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words.empty() ? cat("[", name, "]") : words;
}

}  // namespace

std::optional<ProcessInfo> process_info(int pid, const fs::path& proc) {
  constexpr std::size_t start_field = 22 - 3;  // ticks since boot
  const fs::path folder = proc / std::to_string(pid);
  struct stat owner {};
  const ProcStat stat = parse_proc_stat(read_proc_file(folder / "stat").text);
  if (pid <= 0 || stat.fields.size() <= start_field || ::stat(folder.c_str(), &owner) != 0)
    return std::nullopt;
  const double uptime_s = std::strtod(read_proc_file(proc / "uptime").text.c_str(), nullptr);
  return ProcessInfo{.user = user_name(owner.st_uid),
                     .command = command_of(folder, stat.name),
                     .age_s = std::max(0.0, uptime_s - ticks_s(stat.fields[start_field]))};
}

std::set<int> process_tree(int pid, const fs::path& proc) {
  std::multimap<int, int> children;  // by parent
  for (const int one : process_numbers(proc)) {
    const ProcStat stat = parse_proc_stat(read_proc_file(proc / std::to_string(one) / "stat").text);
    if (stat.fields.size() > 1) children.emplace(std::atoi(stat.fields[1].c_str()), one);
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
