// Decides the consequences of an attempt's end for its job.
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
  JobState state = JobState::failed;  // state of the job
  double not_before = 0;  // unix seconds; earliest time for the retry of a job that waits
};

// How an attempt used its devices.
struct OnDevices {
  AttemptSight sight;
  bool shared = false;  // whether other jobs of the batch were on its devices at some time
  std::int64_t device_bytes = 0;  // memory of the device with the least memory; 0 if unknown
};

// Reasons for which an attempt is ended, as in JobExit::ended_by.
inline constexpr const char* ended_by_timeout = "timeout";
inline constexpr const char* ended_by_cancel = "cancel";
inline constexpr const char* ended_by_stop = "stop";
inline constexpr const char* ended_by_place = "place";  // it was on a device that it was not given

// Decides the outcome of an attempt and the next state of its job. Checks that outputs exist.
// Publishes the folder of a successful attempt as jobs/NAME, where it replaces the folder of an
// earlier attempt. Removes the attempt's folder if it is empty. If the memory of a shared device
// ran out, the job waits again, and this attempt does not count as a try. tries: the number of
// counted attempts before this one.
Settled settle(const BatchFolder& batch, const Job& job, const Attempt& attempt, const JobExit& how,
               int tries, const OnDevices& devices = {});

// Settles an attempt that could not begin because open files, processes or memory ran out. Its job
// waits, and the attempt does not count as a try.
Settled settle_short(const JobExit& exit);
// Settles an attempt whose end is unknown, because its supervisor or the machine went down. The job
// waits again. After the fifth such loss, the job has failed.
Settled settle_lost(const std::string& why, int times_lost);

// Whether a later attempt of the job resumes from this one. This is true for Lockstep's own
// trainings that have checkpoints.
bool goes_on(const Job& job);
// Call it if goes_on() is true. Gives the earlier attempt's folder to the later attempt, and adds
// `--resume auto` to the job's command.
void go_on(const BatchFolder& batch, std::int64_t earlier, std::int64_t attempt, Job& job);

}  // namespace lockstep
