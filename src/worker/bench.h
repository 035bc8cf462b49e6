// Runs a rank of `lockstep bench`.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Trains to the end of the run without evaluation and checkpoints. With several ranks, then
// measures an all-reduce of the size of the gradient. Events are as in training. The last one is
// {"kind": "all_reduce", "bytes", "seconds": […]}. longest_first: whether the longest samples come
// first. Returns the exit code.
int measure_run(const std::string& run, bool longest_first);

}  // namespace lockstep
