// What a job is, by content: so a batch that is run again knows which jobs are new.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"

namespace lockstep {

// 32 hex digits, XXH3-128, of all that decides what the job does: command, shell, environment,
// working folder, outputs and parameters. Not of its number, name, priority, resources, retries or
// what it waits for. The order of parameters and of the environment does not count.
// occurrence: 0 for the first of jobs that are equal in all this, 1 for the second, ….
std::string job_key(const Job& job, std::int64_t occurrence);

}  // namespace lockstep
