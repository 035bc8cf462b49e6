// Computes a key that identifies a job by its content. When a batch runs again, these keys show
// which jobs are new.
#pragma once

#include <cstdint>
#include <string>

#include "tools/jobs/job.h"

namespace lockstep {

// An environment variable with options that jobs of a recipe only record. It does not affect the
// key.
inline constexpr const char* batch_options_variable = "LOCKSTEP_BATCH_OPTIONS";

// Returns 32 hex digits, the XXH3-128 of everything that decides the job's result. That is its
// command, shell, environment, working folder, outputs and parameters. Number, name, priority,
// resources, retries and dependencies do not affect the key. The order of the parameters and of the
// environment does not affect the key either. occurrence: 0 for the first of several jobs that are
// equal in all that decides the result, 1 for the second, and so on.
std::string job_key(const Job& job, std::int64_t occurrence);

}  // namespace lockstep
