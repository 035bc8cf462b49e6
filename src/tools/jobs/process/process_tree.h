// Finds and signals all processes of a job, however they are related to the one that was started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// The variable that every process of an attempt inherits; its value is BATCH:ATTEMPT.
inline constexpr const char* attempt_variable = "LOCKSTEP_ATTEMPT";
// All marks of a batch have the same length, so that a process can overwrite one with another in
// the environment that the kernel shows.
std::string attempt_mark(const std::string& batch, std::int64_t attempt);
// The mark of this supervisor's processes that wait for a job.
std::string worker_mark(const std::string& batch, const std::string& supervisor);

// The value of that variable in the process, as of the start of its program. "" if it has none or
// belongs to another user. A process that is just starting its program cannot be read yet; the call
// waits for that.
std::string attempt_of(pid_t process);

struct MarkedProcess {
  pid_t pid = 0;
  std::string mark;  // never empty
};
// Living processes with this mark, or with any mark of this batch ("BATCH:"). Examines every
// process of the machine. The mark must not be empty, because that is what all other processes
// have.
std::vector<MarkedProcess> processes_marked(std::string_view mark);

// Processes whose parent is this one. An orphan becomes one if this process is a subreaper.
std::vector<pid_t> own_children();
// Waits until this process has no children but `other`, for at most a second; children that last
// longer are left.
void reap_children(pid_t other = 0);

// Signals the process if `is_meant` says so, which is called once its number cannot change owner.
// Returns whether it was signalled.
bool signal_if(pid_t process, int number, const std::function<bool()>& is_meant);
// Signals the process if it has this mark, and never another that got its number meanwhile.
void signal_marked(const MarkedProcess& process, int number);
// Signals each of these and all their present descendants, except those in `told`. The caller must
// be a subreaper, or children whose parent has just ended are not found.
void signal_descendants(const std::vector<pid_t>& processes, int number,
                        const std::set<pid_t>& told = {});

// Field 22 of /proc/PID/stat, in clock ticks since boot; together with the number it identifies a
// process. 0: it is gone.
std::uint64_t start_ticks(pid_t process);

}  // namespace lockstep
