// Finds and signals all processes of a job, however they are related to the process that was
// started.
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
// The mark of a supervisor's processes that wait for a job.
std::string worker_mark(const std::string& batch, const std::string& supervisor);

// The value of attempt_variable in the process, as of the start of its program. "" if the process
// lacks it or belongs to another user. While a process is just starting its program, its value
// cannot be read, so the call waits.
std::string attempt_of(pid_t process);

struct MarkedProcess {
  pid_t pid = 0;
  std::string mark;  // never empty
};
// Finds living processes with this mark, or with any mark of this batch ("BATCH:"). Examines every
// process of the machine. The mark must not be empty, because all other processes have an empty
// one.
std::vector<MarkedProcess> processes_marked(std::string_view mark);

// Processes whose parent is the calling process. If that is a subreaper, orphans become its
// children too.
std::vector<pid_t> own_children();
// Waits, for at most a second, until this process has no children except `other`.
void reap_children(pid_t other = 0);

// Signals the process if `is_meant` returns true. It is called once the number can no longer pass
// to another process. Returns whether the process was signalled.
bool signal_if(pid_t process, int number, const std::function<bool()>& is_meant);
// Signals the process if it has this mark, and never another process that got its number meanwhile.
void signal_marked(const MarkedProcess& process, int number);
// Signals these processes and all their present descendants, except those in `told`. The caller
// must be a subreaper. Otherwise children whose parent has just ended are not found.
void signal_descendants(const std::vector<pid_t>& processes, int number,
                        const std::set<pid_t>& told = {});

// The start time of the process: field 22 of /proc/PID/stat, in clock ticks since boot. Together
// with the number it identifies a process. 0 if the process is gone.
std::uint64_t start_ticks(pid_t process);

}  // namespace lockstep
