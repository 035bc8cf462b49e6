// Control groups (cgroup version 2): all processes of an attempt as the kernel knows them, whatever
// they do with sessions, variables and parents. A group is named by its folder below a mount.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Folders that may be the calling process' own group, from the texts of /proc/self/mountinfo and
// /proc/self/cgroup. None where version 2 is not mounted, or shows other groups than its own.
std::vector<std::filesystem::path> own_cgroups(const std::string& mounts,
                                               const std::string& groups);

// Where groups can be made: a folder NAME in the own group, which comes with the first of them.
struct CgroupPlace {
  std::filesystem::path folder;  // empty: nowhere
  std::string why_not;           // for people
};
// Tries it with a process. Nowhere also where LOCKSTEP_CGROUPS is "off".
CgroupPlace find_cgroup_place(const std::string& name);

// A new group, and the one that it is in; false where that cannot be.
bool make_cgroup(const std::filesystem::path& group);
// With the empty groups in it. False: something lives there. True also where there is none.
bool remove_cgroup(const std::filesystem::path& group);

// A living process is in it or in a group below. True where that cannot be read.
bool is_populated(const std::filesystem::path& group);
std::vector<pid_t> processes_in(const std::filesystem::path& group);  // likewise
// SIGKILL to all of them at once, also to those that are just being forked.
void kill_cgroup(const std::filesystem::path& group);
// To each of them, and to none that got its number meanwhile. Those that it was sent to.
std::set<pid_t> signal_cgroup(const std::filesystem::path& group, int number);

// Of all processes that were in it, also of those below.
struct CgroupUse {
  std::optional<double> cpu_s;
  std::optional<std::int64_t> memory_peak_bytes;  // with file cache; of groups with that controller
};
CgroupUse read_use(const std::filesystem::path& group);

}  // namespace lockstep
