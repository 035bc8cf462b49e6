// Matches the jobs of batches, and derives facts about the batches from them.
#pragma once

#include "tools/report/comparison/comparison.h"

namespace lockstep {

// Jobs match by their parameters, or by name if that matches more of them. From the jobs that all
// trials have, adds to every trial facts (jobs, jobs_done, jobs_beside, reported ones), quantities
// (mean time of a job, means of reported ones) and counts. Does nothing unless every trial is a
// batch with jobs.
JobsMatched match_jobs(TrialGroup& a, TrialGroup& b);

// The same for a single batch, over all of its jobs. Does nothing for other trials.
void add_own_jobs(Trial& trial);

}  // namespace lockstep
