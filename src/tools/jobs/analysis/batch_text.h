// Texts about a batch, before, during and after it.
#pragma once

#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/schedule/placement.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep {

// "12 done, 1 failed, 3 left of 16".
std::string counts_text(const std::map<JobState, std::int64_t>& counts);
std::string counts_text(const BatchCounts& counts);

// The first line of a start.
std::string begin_text(const BatchFolder& batch, const AddedJobs& added,
                       const BatchResources& resources, const std::vector<Device>& devices);

// "--slots 4 on 2 cores: …" if the remaining jobs request more cores together than there are. "" if
// they do not, or if GPUs may limit the concurrent jobs.
std::string crowded_note(Ledger& ledger, const BatchResources& resources);

// A row per job: number, name, cores, GPU and command, with the placement of the first ones.
std::string dry_run_text(const JobList& list, const BatchResources& resources,
                         const std::vector<Device>& devices);

// Text for an attempt that failed: "job NAME failed: exit code 3 (try 2); LOG: last line".
std::string failure_text(const BatchFolder& batch, const RunningAttempt& running,
                         const Settled& settled);

// Time, jobs per minute, devices, slowest jobs, and every unsuccessful job with its log.
std::string batch_summary(const BatchFolder& batch, Ledger& ledger);

}  // namespace lockstep
