// Finds and signals all processes of a job, even if they have left the job's session or group.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// The variable that every process of an attempt inherits. Its value is the mark of the attempt,
// BATCH:ATTEMPT.
inline constexpr const char* attempt_variable = "LOCKSTEP_ATTEMPT";
// Returns the mark of an attempt. All marks of a batch have the same length. So a process can
// overwrite one mark with another in the environment that the kernel shows.
std::string attempt_mark(const std::string& batch, std::int64_t attempt);
// Returns the mark of those processes of a supervisor that wait for their next job.
std::string worker_mark(const std::string& batch, const std::string& supervisor);

// Returns the mark of a process, or "" if it has no mark or belongs to another user. While a
// process is starting its program, the mark cannot be read, so the call waits for at most 0.1 s.
std::string attempt_of(pid_t process);

struct MarkedProcess {
  pid_t pid = 0;
  std::string mark;  // never empty
};
// Finds living processes with this mark. "BATCH:" stands for all marks of the batch. Examines every
// process of the machine except the calling one. The mark must not be empty, because processes
// without a job have an empty mark.
std::vector<MarkedProcess> processes_marked(std::string_view mark);

// Returns the children of the calling process. If the calling process is a subreaper, orphans of
// its descendants become its children too.
std::vector<pid_t> own_children();
// Waits at most one second, until this process has no children except `other`.
void reap_children(pid_t other = 0);

// Signals the process if `is_meant` returns true, and returns that result. From Linux 5.3 on,
// is_meant is called once the process number can no longer pass to another process.
bool signal_if(pid_t process, int number, const std::function<bool()>& is_meant);
// Signals the process if it has this mark. If another process has got its number meanwhile, that
// process is not signalled.
void signal_marked(const MarkedProcess& process, int number);
// Signals these processes and all their present descendants, except the processes in `told`. The
// caller must be a subreaper. Otherwise children whose parent has just ended are not found.
void signal_descendants(const std::vector<pid_t>& processes, int number,
                        const std::set<pid_t>& told = {});

// Returns the start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). The
// start time and the number together identify a process. Returns 0 if the process is gone.
std::uint64_t start_ticks(pid_t process);

}  // namespace lockstep
