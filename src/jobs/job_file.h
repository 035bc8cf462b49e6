// A job file (TOML) to the list of its jobs.
#pragma once

#include <filesystem>

#include "jobs/job.h"
#include "jobs/job_source.h"

namespace lockstep {

// Keys at the top are those of all jobs, unless a [[jobs]] table says otherwise; without such
// tables the top is the only group. Relative paths (cwd, files of the matrix) begin in the folder
// of the job file, which is also the working folder of jobs without `cwd`.
// Throws Error, which names file and line: unknown keys (the nearest is named), values of a wrong
// kind or out of range, an empty matrix, and what `expand_jobs` refuses. Commands and folders are
// looked for by `check_jobs`.
JobList read_job_file(const std::filesystem::path& path);
// The same without holding all of them.
JobSource job_file_source(const std::filesystem::path& path);

}  // namespace lockstep
