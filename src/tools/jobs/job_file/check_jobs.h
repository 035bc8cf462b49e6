// Checks that commands and working folders of jobs exist, before anything starts.
#pragma once

#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Throws Error, which names the job. The working folder must exist. A command with a slash is
// relative to the working folder; any other must be in PATH (of the job's environment, else of this
// process). The command must be executable. Equal jobs are checked once. Not checked are texts with
// a placeholder of an attempt, and shell lines.
void check_jobs(const JobList& list);
void check_jobs(const JobSource& source);

}  // namespace lockstep
