// Checks that commands and working folders of jobs exist, before anything starts.
#pragma once

#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Checks the working folder and the command of each job. Throws Error, which names the job, if the
// folder or the command does not exist, or if the command is not executable. A command with a slash
// is relative to the working folder. Any other command must be in PATH. PATH is that of the job's
// environment, or else that of this process. Equal jobs are checked once. Shell lines, and texts
// with a placeholder of an attempt, are not checked.
void check_jobs(const JobList& list);
void check_jobs(const JobSource& source);

}  // namespace lockstep
