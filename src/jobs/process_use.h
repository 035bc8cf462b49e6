// What one living process has used so far. For a process that runs one job after the other, of
// which the kernel tells only the sum when it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace lockstep {

// Seconds of processors: its own, and, in whole clock ticks, of children that it waited for. 0: it
// is gone.
double cpu_s_of(pid_t process);

// Its resident memory at most, since it began or `forget_peak` was called. 0: it is gone.
std::int64_t peak_memory_bytes(pid_t process);
// The peak is counted anew, from what is resident now. Where /proc cannot be written to it stays.
void forget_peak(pid_t process);

// Whether any of its threads has children, also such as have ended and are not waited for.
bool has_children(pid_t process);

}  // namespace lockstep
