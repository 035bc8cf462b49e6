// All processes of a job, however they are related to the one that was started.
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
// All marks of a batch are of one length, so that a process can write one over the other where the
// kernel reads its environment.
std::string attempt_mark(const std::string& batch, std::int64_t attempt);
// Of processes of this supervisor that wait for a job.
std::string worker_mark(const std::string& batch, const std::string& supervisor);

// Its value in that process, as it was when its program started; "" if it has none or is another
// user's. Of a process that is just starting its program nothing can be read: waits for that.
std::string attempt_of(pid_t process);

struct MarkedProcess {
  pid_t pid = 0;
  std::string mark;  // never empty
};
// Living processes whose mark this is, or of this batch ("BATCH:"). Looks at every process of the
// machine. The mark must not be empty: that is what all other processes have.
std::vector<MarkedProcess> processes_marked(std::string_view mark);

// Processes whose parent is this one. An orphan becomes one where this process is a subreaper.
std::vector<pid_t> own_children();
// Waits until this process has no children but `other`, for a second at most: what does not end
// even then is left.
void reap_children(pid_t other = 0);

// To the process if `is_meant` says so, which is asked once its number can be nobody else's. False:
// it was not.
bool signal_if(pid_t process, int number, const std::function<bool()>& is_meant);
// To the process if it has this mark, and never to another that got its number meanwhile.
void signal_marked(const MarkedProcess& process, int number);
// To each of these and all that descend from them, as they are now, but for those in `told`. The
// caller is a subreaper, or children whose parent has just ended are not found.
void signal_descendants(const std::vector<pid_t>& processes, int number,
                        const std::set<pid_t>& told = {});

// Field 22 of /proc/PID/stat, in clock ticks since boot; with the number it names a process. 0: it
// is gone.
std::uint64_t start_ticks(pid_t process);

}  // namespace lockstep
