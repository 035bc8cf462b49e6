// The resources that a living process has used so far. This is needed for a process that runs
// several jobs, because the kernel reports only the sum, when the process has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lockstep {

// Processor seconds of the process, plus those of children that it waited for (in whole clock
// ticks). 0 if it is gone.
double cpu_s_of(pid_t process);

// Peak resident memory of the process since it began or `forget_peak` was called. 0 if it is gone.
std::int64_t peak_memory_bytes(pid_t process);
// Restarts the peak from the present resident memory. Has no effect if /proc is not writable.
void forget_peak(pid_t process);

// Whether any of its threads has children, including ended ones that were not waited for.
bool has_children(pid_t process);

}  // namespace lockstep
