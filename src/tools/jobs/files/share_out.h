// Divides jobs among tasks that begin and end independently.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// Returns indexes into `jobs`, by share. A share has at most `most` jobs (1 or more), as evenly as
// possible, in the order of the list. Jobs that depend on each other stay together if they are at
// most `most`. Larger groups are cut by level, so that shares wait only for whole shares, and never
// in a circle. Dependencies on jobs outside the list do not count.
std::vector<std::vector<std::size_t>> share_out(const std::vector<Job>& jobs, std::size_t most);

}  // namespace lockstep
