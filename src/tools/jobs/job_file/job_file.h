// Reads a job file (TOML) into a list of jobs.
#pragma once

#include <filesystem>

#include "tools/jobs/job.h"
#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Keys at the top of the file apply to all jobs, unless a [[jobs]] table overrides them. Without
// such tables, the keys at the top describe the only group of jobs. Relative paths (cwd, files of
// the matrix) are relative to the job file's folder. This folder is also the working folder of jobs
// without `cwd`. Commands and folders are not checked here, but by check_jobs(). Throws Error,
// which names file and line, in these cases:
//   - an unknown key; the error suggests the nearest one
//   - a value that has the wrong type or is out of range
//   - a matrix without parameters at the top
//   - an error of expand_jobs()
JobList read_job_file(const std::filesystem::path& path);
// Reads the file as read_job_file() does, but does not hold all jobs in memory.
JobSource job_file_source(const std::filesystem::path& path);

}  // namespace lockstep
