// Matches the jobs of several batches, and adds facts about the jobs to the batches.
#pragma once

#include "tools/report/comparison/comparison.h"

namespace lockstep {

// Matches jobs by their parameters, or by name if that matches more of them. Adds to every trial:
//   - facts: jobs, jobs_done, jobs_beside, job_list, and facts that the jobs reported
//   - quantities: the mean time of a job, and means of reported numbers
//   - counts of failed and skipped jobs
// All of these except the fact `jobs` cover only the jobs that all trials have. Does nothing unless
// every trial is a batch with jobs.
JobsMatched match_jobs(TrialGroup& a, TrialGroup& b);

// Adds the same facts, quantities and counts to a single batch, over all of its jobs. Does nothing
// if the trial is not a batch.
void add_own_jobs(Trial& trial);

}  // namespace lockstep
