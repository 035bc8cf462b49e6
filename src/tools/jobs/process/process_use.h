// The resources that a living process has used so far. For a process that runs several jobs, the
// kernel only reports the sum when it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lockstep {

// Its processor seconds, and in whole clock ticks those of children that it waited for. 0: it is
// gone.
double cpu_s_of(pid_t process);

// Its peak resident memory since it began or `forget_peak` was called. 0: it is gone.
std::int64_t peak_memory_bytes(pid_t process);
// Restarts the peak from the present resident memory. Has no effect if /proc is not writable.
void forget_peak(pid_t process);

// Whether any of its threads has children, including ended ones that were not waited for.
bool has_children(pid_t process);

}  // namespace lockstep
