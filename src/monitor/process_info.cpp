#include "monitor/process_info.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "base/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string user_name(uid_t uid) {
  passwd entry{}, *found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return found->pw_name;
  return cat(uid);
}

// Field 22 of stat, in ticks since boot. The name before it may hold anything, also brackets.
std::optional<double> start_s(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return std::nullopt;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string word;
  for (int field = 3; field < 22; ++field) rest >> word;
  double ticks = 0;
  if (!(rest >> ticks)) return std::nullopt;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string command_of(const fs::path& folder, const std::string& stat) {
  std::string words = contents(folder / "cmdline");
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  if (!words.empty()) return words;
  const std::size_t begin = stat.find('('), end = stat.rfind(')');
  return begin == stat.npos ? "" : cat("[", stat.substr(begin + 1, end - begin - 1), "]");
}

}  // namespace

std::optional<ProcessInfo> process_info(int pid, const fs::path& proc) {
  const fs::path folder = proc / std::to_string(pid);
  struct stat owner {};
  const std::string stat = contents(folder / "stat");
  const std::optional<double> started = start_s(stat);
  double uptime = 0;
  std::istringstream(contents(proc / "uptime")) >> uptime;
  if (pid <= 0 || !started || ::stat(folder.c_str(), &owner) != 0) return std::nullopt;
  return ProcessInfo{.user = user_name(owner.st_uid),
                     .command = command_of(folder, stat),
                     .age_s = std::max(0.0, uptime - *started)};
}

std::set<int> process_tree(int pid, const fs::path& proc) {
  std::multimap<int, int> children;  // by parent
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(proc, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.empty() || name.find_first_not_of("0123456789") != name.npos || name.size() > 9)
      continue;
    const std::string stat = contents(entry.path() / "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == stat.npos) continue;  // it ended while it was looked at
    std::istringstream rest(stat.substr(name_end + 1));
    std::string state;
    int parent = 0;
    if (rest >> state >> parent) children.emplace(parent, std::stoi(name));
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
