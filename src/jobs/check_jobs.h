// Whether the commands and working folders of jobs are there, before anything starts.
#pragma once

#include "jobs/job_source.h"

namespace lockstep {

// Throws Error, which names the job: a working folder that is not there; a command that is not in
// PATH (of the job's environment, else of this process), not relative to the working folder where
// it has a slash, or cannot be run. Looks once for jobs that are alike. What holds a placeholder of
// an attempt is left for later, and so is a line of the shell.
void check_jobs(const JobList& list);
void check_jobs(const JobSource& source);

}  // namespace lockstep
