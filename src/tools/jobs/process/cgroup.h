// Makes, signals and removes control groups (cgroup version 2). A group contains all processes of
// an attempt. They cannot leave it by changing their session, variables or parent. A group is
// identified by its folder below a mount of the cgroup file system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Returns the folders that may be the calling process's own group. mounts and groups: the texts of
// /proc/self/mountinfo and /proc/self/cgroup. The list is empty if cgroup version 2 is not mounted,
// or if the mounts show only other groups.
std::vector<std::filesystem::path> own_cgroups(const std::string& mounts,
                                               const std::string& groups);

// The folder in which groups can be made. It lies in the folder of this process's own group, and is
// created together with the first group.
struct CgroupPlace {
  std::filesystem::path folder;  // empty if groups cannot be made
  std::string why_not;           // the reason, for people
};
// Finds a place for a folder with this name, and tests with a process that groups can be made
// there. The result has no folder if the test fails, or if LOCKSTEP_CGROUPS is "off".
CgroupPlace find_cgroup_place(const std::string& name);

// Makes a group, and its parent group if needed. Returns false if that is impossible.
bool make_cgroup(const std::filesystem::path& group);
// Removes a group and the empty groups in it. Returns false if a process lives in it. Returns true
// if the group does not exist.
bool remove_cgroup(const std::filesystem::path& group);

// Whether a living process is in the group or in a group below it. Returns true if the group's
// state cannot be read.
bool is_populated(const std::filesystem::path& group);
std::vector<pid_t> processes_in(const std::filesystem::path& group);  // includes groups below it
// Sends SIGKILL to all processes of the group at once, including those that are just being forked.
void kill_cgroup(const std::filesystem::path& group);
// Signals each process in the group and in groups below it. If a process ends and a new process
// gets its number, the new process is not signalled. Returns the processes that got the signal.
std::set<pid_t> signal_cgroup(const std::filesystem::path& group, int number);

// The resources used by all processes that were in the group or in groups below it.
struct CgroupUse {
  std::optional<double> cpu_s;
  // includes the file cache; nothing if the group has no memory controller
  std::optional<std::int64_t> memory_peak_bytes;
};
CgroupUse read_use(const std::filesystem::path& group);

}  // namespace lockstep
