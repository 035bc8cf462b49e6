// Divides jobs among tasks that begin and end independently of each other.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// Returns a list of indexes into `jobs` for each share. A share has at most `most` jobs, with
// `most` >= 1. The shares are as equal in size as possible, and follow the order of the list. A
// group of jobs that depend on each other stays together if it has at most `most` jobs. A larger
// group is cut by level. So a share waits only for other shares as a whole, and shares never wait
// in a circle. Dependencies on jobs outside the list are ignored.
std::vector<std::vector<std::size_t>> share_out(const std::vector<Job>& jobs, std::size_t most);

}  // namespace lockstep
