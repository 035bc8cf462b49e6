#include "runtime/launch/watch/memory_kills.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// The number in the line "NAME NUMBER" of a file.
std::optional<std::uint64_t> counter(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t value = 0;
    if (words >> word >> value && word == name) return value;
  }
  return std::nullopt;
}

// A number of bytes in a file. Nothing if the file says "max", or has version 1's number for no
// limit.
std::optional<std::uint64_t> limit(const fs::path& file) {
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (!(in >> value) || value >= no_limit) return std::nullopt;
  return value;
}

struct Group {
  fs::path path;  // "/user.slice/…", as in /proc/self/cgroup
  bool version_1 = false;
};

// Lines of /proc/self/cgroup are "ID:CONTROLLERS:PATH", and for version 2 "0::PATH". Either version
// may control memory.
std::vector<Group> memory_groups(const fs::path& root) {
  std::vector<Group> groups;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string path = line.substr(second + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    for (const std::string& one : split(controllers, ','))
      if (one == "memory") groups.push_back({path, true});
    if (controllers.empty()) groups.push_back({path, false});
  }
  return groups;
}

void read_group(const fs::path& root, const Group& group, MemoryKills& kills) {
  const fs::path mount = root / (group.version_1 ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
  // In a container, the path may be the host's, while the mount is the group itself.
  for (const fs::path& folder : {mount / group.path.relative_path(), mount}) {
    const auto count =
        counter(folder / (group.version_1 ? "memory.oom_control" : "memory.events"), "oom_kill");
    if (!count) continue;
    kills.group = count;
    kills.group_limit_bytes =
        limit(folder / (group.version_1 ? "memory.limit_in_bytes" : "memory.max"));
    return;
  }
}

bool rose(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) {
  return before && after && *after > *before;
}

}  // namespace

MemoryKills read_memory_kills(const fs::path& root) {
  MemoryKills kills{.machine = counter(root / "proc/vmstat", "oom_kill")};
  for (const Group& group : memory_groups(root))
    if (!kills.group) read_group(root, group, kills);
  return kills;
}

std::string memory_ran_out(const MemoryKills& before, const MemoryKills& after) {
  if (!rose(before.group, after.group)) return "";
  return cat("the kernel killed a process here because memory ran out",
             after.group_limit_bytes
                 ? cat(": the limit of this control group is ",
                       format_bytes(static_cast<double>(*after.group_limit_bytes)))
                 : "");
}

std::string explain_kill(const MemoryKills& before, const MemoryKills& after) {
  if (std::string sure = memory_ran_out(before, after); !sure.empty()) return sure;
  if (rose(before.machine, after.machine))
    return "the kernel killed a process on this machine meanwhile because memory ran out, most "
           "likely this one (dmesg names it)";
  if (before.machine && after.machine)
    return "the kernel has counted no kill for lack of memory meanwhile: a person, a scheduler or "
           "a service such as earlyoom or systemd-oomd may have sent the signal";
  return "most likely memory ran out, and the kernel killed it (dmesg would name it)";
}

}  // namespace lockstep
