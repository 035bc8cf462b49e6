// A job's identity by content. By it, a batch that runs again knows which jobs are new.
#pragma once

#include <cstdint>
#include <string>

#include "tools/jobs/job.h"

namespace lockstep {

// This variable holds options that jobs of a recipe only record. It is no part of a job's identity.
inline constexpr const char* batch_options_variable = "LOCKSTEP_BATCH_OPTIONS";

// 32 hex digits, the XXH3-128 of everything that decides what the job does: command, shell,
// environment, working folder, outputs and parameters. Number, name, priority, resources, retries
// and dependencies do not count. The order of parameters and of the environment does not count
// either. occurrence: 0 for the first of jobs that are equal in all this, 1 for the second, ….
std::string job_key(const Job& job, std::int64_t occurrence);

}  // namespace lockstep
