// Shares out jobs among tasks that begin and end by themselves.
#pragma once

#include <cstddef>
#include <vector>

#include "jobs/job.h"

namespace lockstep {

// Places in `jobs`, by share; at most `most` jobs in each, as even as can be, in the order of the
// list. Jobs that wait for each other stay together where they are at most `most`; larger groups
// are cut by level, so that a share waits for whole shares and never around a circle. Waits for
// jobs that are not in the list do not count. most: from 1 on.
std::vector<std::vector<std::size_t>> share_out(const std::vector<Job>& jobs, std::size_t most);

}  // namespace lockstep
