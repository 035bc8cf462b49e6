// Runs a rank of `lockstep bench`.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Trains to the end of the run, without evaluations and checkpoints. If there are several ranks,
// then measures an all-reduce of the size of the gradients. The events are those of training, and
// {"kind": "all_reduce", "bytes", "seconds": […]} at the end. longest_first: whether to train on
// the longest samples first. Returns the exit code.
int measure_run(const std::string& run, bool longest_first);

}  // namespace lockstep
