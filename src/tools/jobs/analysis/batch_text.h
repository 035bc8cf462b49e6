// Makes texts about a batch, before it runs, while it runs and afterwards.
#pragma once

#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/schedule/placement.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep {

// Returns a text such as "12 done, 1 failed, 3 left of 16".
std::string counts_text(const std::map<JobState, std::int64_t>& counts);
std::string counts_text(const BatchCounts& counts);

// Returns the first line that is printed when a batch starts.
std::string begin_text(const BatchFolder& batch, const AddedJobs& added,
                       const BatchResources& resources, const std::vector<Device>& devices);

// Returns "--slots 4 on 2 cores: …" if the jobs that may run at once need more cores than the batch
// has. Returns "" if there are enough cores, or if GPUs may limit the number of concurrent jobs.
std::string crowded_note(Ledger& ledger, const BatchResources& resources);

// Returns a row per job: number, name, cores, GPUs, placement and command. Only the jobs that would
// begin immediately have a placement.
std::string dry_run_text(const JobList& list, const BatchResources& resources,
                         const std::vector<Device>& devices);

// Returns a text for an attempt that failed: its job, the reason, and the last line of its log.
std::string failure_text(const BatchFolder& batch, const RunningAttempt& running,
                         const Settled& settled);

// Returns the summary at the end of a batch: counts, time, jobs per minute and devices. It also
// lists the slowest jobs, and the failed jobs with their logs.
std::string batch_summary(const BatchFolder& batch, Ledger& ledger);

}  // namespace lockstep
