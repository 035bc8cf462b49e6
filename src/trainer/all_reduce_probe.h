// How fast the ranks add up a gradient when they do nothing else.
#pragma once

#include "engine/backend.h"
#include "engine/process_group.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// Seconds of each of `repeats` all-reduces of one buffer of about `bytes`, as this rank sees them;
// all ranks begin together. All ranks call it. Nothing with one rank.
std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats);

}  // namespace lockstep
