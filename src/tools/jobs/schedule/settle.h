// Decides what an attempt's end means for its job.
#pragma once

#include <string>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/job.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/process/job_process.h"
#include "tools/jobs/schedule/device_watch.h"

namespace lockstep {

struct Settled {
  AttemptEnd end;
  JobState state = JobState::failed;  // of the job
  double not_before = 0;              // unix seconds, for a job that waits for a retry
};

// An attempt's use of its devices.
struct OnDevices {
  AttemptSight sight;
  bool shared = false;            // with other jobs of the batch, at some time
  std::int64_t device_bytes = 0;  // memory of the smallest device; 0: unknown
};

// Reasons for ending an attempt (JobExit::ended_by).
inline constexpr const char* ended_by_timeout = "timeout";
inline constexpr const char* ended_by_cancel = "cancel";
inline constexpr const char* ended_by_stop = "stop";
inline constexpr const char* ended_by_place = "place";  // it was on a device that was not its own

// tries: the number of counted attempts before this one. Checks that outputs exist. If the attempt
// succeeded, publishes its folder under the job's name, replacing that of an earlier attempt;
// removes an empty folder. If memory of a shared device ran out, the job is tried again, and this
// attempt does not count.
Settled settle(const BatchFolder& batch, const Job& job, const Attempt& attempt, const JobExit& how,
               int tries, const OnDevices& devices = {});

// For an attempt that could not begin because open files, processes or memory ran out. Its job
// waits, and the attempt does not count as a try.
Settled settle_short(const JobExit& exit);
// For an attempt whose end is unknown, because its supervisor or the machine went down.
Settled settle_lost(const std::string& why, int times_lost);

// Whether a later attempt resumes from this one: true for Lockstep's own trainings.
bool goes_on(const Job& job);
// For such a job: gives the earlier attempt's folder to the later attempt, and tells the command to
// resume.
void go_on(const BatchFolder& batch, std::int64_t earlier, std::int64_t attempt, Job& job);

}  // namespace lockstep
