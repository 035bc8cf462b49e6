// What an attempt's end means for its job.
#pragma once

#include <string>

#include "jobs/batch_folder.h"
#include "jobs/device_watch.h"
#include "jobs/job.h"
#include "jobs/job_process.h"
#include "jobs/ledger.h"

namespace lockstep {

struct Settled {
  AttemptEnd end;
  JobState state = JobState::failed;  // of the job
  double not_before = 0;              // unix seconds, of one that waits to be tried again
};

// How an attempt did on its devices.
struct OnDevices {
  AttemptSight sight;
  bool shared = false;            // with other jobs of the batch, at some time
  std::int64_t device_bytes = 0;  // memory of the smallest; 0: unknown
};

// Words of those who end an attempt (JobExit::ended_by).
inline constexpr const char* ended_by_timeout = "timeout";
inline constexpr const char* ended_by_cancel = "cancel";
inline constexpr const char* ended_by_stop = "stop";
inline constexpr const char* ended_by_place = "place";  // it was on a device that is not its own

// `tries`: that counted before this one. Looks whether outputs are there, and publishes the folder
// of a successful attempt under the job's name, in the place of an earlier one's. An empty folder
// goes. Where memory of a device that it shared ran out, it is tried again, and that is not
// counted.
Settled settle(const BatchFolder& batch, const Job& job, const Attempt& attempt, const JobExit& how,
               int tries, const OnDevices& devices = {});

// Of an attempt that could not begin for lack of open files, processes or memory: its job waits,
// and this does not count as a try.
Settled settle_short(const JobExit& exit);
// Of an attempt that nothing is known of: its supervisor or the machine went down.
Settled settle_lost(const std::string& why, int times_lost);

// Whether a later attempt goes on where this one was: a training of Lockstep's own.
bool goes_on(const Job& job);
// Of such a one: its folder becomes that of the later attempt, and the command says to go on.
void go_on(const BatchFolder& batch, std::int64_t earlier, std::int64_t attempt, Job& job);

}  // namespace lockstep
