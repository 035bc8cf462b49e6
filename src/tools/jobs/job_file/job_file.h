// Reads a job file (TOML) into a list of jobs.
#pragma once

#include <filesystem>

#include "tools/jobs/job.h"
#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Keys at the top apply to all jobs, unless a [[jobs]] table overrides them. Without such tables
// the top is the only group. Relative paths (cwd, files of the matrix) start in the job file's
// folder, which is also the working folder of jobs without `cwd`. Throws Error, which names file
// and line, for unknown keys (it suggests the nearest), values of a wrong type or out of range, an
// empty matrix, and errors of `expand_jobs`. Commands and folders are checked by `check_jobs`.
JobList read_job_file(const std::filesystem::path& path);
// The same without holding all jobs in memory.
JobSource job_file_source(const std::filesystem::path& path);

}  // namespace lockstep
