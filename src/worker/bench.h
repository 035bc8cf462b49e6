// A rank of `lockstep bench`.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Trains to the end of the run without evaluation and checkpoints, then measures an all-reduce of
// the gradient's size. Events are as in training, with {"kind": "all_reduce", "bytes", "seconds":
// […]} at the end. longest_first: whether the longest samples come first. Returns the exit code.
int measure_run(const std::string& run, bool longest_first);

}  // namespace lockstep
