// Reads the resources that a living process has used so far. This is needed for a process that runs
// several jobs. For such a process, the kernel reports only sums, and only when it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lockstep {

// Returns the processor seconds of the process and of children that it waited for. The seconds of
// children are rounded to whole clock ticks. Returns 0 if the process is gone.
double cpu_s_of(pid_t process);

// Returns the peak of the resident memory since the process began or forget_peak() was called.
// Returns 0 if the process is gone.
std::int64_t peak_memory_bytes(pid_t process);
// Resets the peak to the present resident memory. Has no effect if /proc is not writable.
void forget_peak(pid_t process);

// Whether any thread of the process has children, including ended ones that were not waited for.
// Returns true if the children cannot be read.
bool has_children(pid_t process);

}  // namespace lockstep
