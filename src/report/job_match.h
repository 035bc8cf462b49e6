// The jobs of batches side by side: which are the same, and what they say of the batches.
#pragma once

#include "report/comparison.h"

namespace lockstep {

// Jobs are the same where their parameters are, or else their names; by content where they have
// neither changed. Adds to every trial what follows from the jobs that all trials have: facts
// (jobs, jobs_done, jobs_beside, what they reported), quantities (mean time of a job, means of what
// they reported), counts. Does nothing unless every trial is a batch with jobs.
JobsMatched match_jobs(TrialGroup& a, TrialGroup& b);

// The same of a batch by itself, over all of its jobs. Nothing of what is no batch.
void add_own_jobs(Trial& trial);

}  // namespace lockstep
