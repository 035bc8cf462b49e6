// Control groups (cgroup version 2). They contain all processes of an attempt, whatever these do
// with sessions, variables and parents. A group is identified by its folder below a mount.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Folders that may be the calling process's own group, from the texts of /proc/self/mountinfo and
// /proc/self/cgroup. Empty if version 2 is not mounted, or if the mounts show only other groups.
std::vector<std::filesystem::path> own_cgroups(const std::string& mounts,
                                               const std::string& groups);

// Where groups can be made: a folder NAME in this process's own group. It is created with the first
// of them.
struct CgroupPlace {
  std::filesystem::path folder;  // empty: groups cannot be made
  std::string why_not;           // for people
};
// Tests the place with a process. The place is also empty if LOCKSTEP_CGROUPS is "off".
CgroupPlace find_cgroup_place(const std::string& name);

// Makes a group, and its parent if needed; false if that is impossible.
bool make_cgroup(const std::filesystem::path& group);
// Also removes empty groups in it. False if a process lives there. True if the group does not
// exist.
bool remove_cgroup(const std::filesystem::path& group);

// Whether a living process is in the group or in a group below it. True if that cannot be read.
bool is_populated(const std::filesystem::path& group);
std::vector<pid_t> processes_in(const std::filesystem::path& group);  // also in groups below
// Sends SIGKILL to all its processes at once, including those just being forked.
void kill_cgroup(const std::filesystem::path& group);
// Signals each process in the group, and never another process that got its number meanwhile.
// Returns the processes that got the signal.
std::set<pid_t> signal_cgroup(const std::filesystem::path& group, int number);

// The use of all processes that were in the group, or in groups below it.
struct CgroupUse {
  std::optional<double> cpu_s;
  std::optional<std::int64_t> memory_peak_bytes;  // with file cache; only for groups with that
                                                  // controller
};
CgroupUse read_use(const std::filesystem::path& group);

}  // namespace lockstep
