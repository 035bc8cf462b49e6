// Checks that commands and working folders of jobs exist, before anything starts.
#pragma once

#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Throws Error, which names the job. The working folder must exist. The command must be executable
// and in PATH (of the job's environment, else of this process), or relative to the working folder
// if it has a slash. Equal jobs are checked once. Texts with a placeholder of an attempt are not
// checked, and neither are shell lines.
void check_jobs(const JobList& list);
void check_jobs(const JobSource& source);

}  // namespace lockstep
