// What the processes of an attempt find in their environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/job.h"

namespace lockstep {

// In the folder of an attempt: what LOCKSTEP_EVENTS names.
inline constexpr const char* events_file = "events.jsonl";

struct AttemptPlace {
  std::string mark;  // LOCKSTEP_ATTEMPT
  std::string out;   // absolute: LOCKSTEP_OUT
  int number = 1;    // of this job
  int slot = 0;
  int threads = 1;                   // cores it was given, at least 1
  std::vector<std::string> devices;  // UUIDs; empty: it sees no GPU (LOCKSTEP_DEVICE=cpu)
};

// "NAME=value". The job's own variables win, but for those that say where it is. GPUs are fixed by
// UUID, so that an index that the program uses counts among its own.
std::vector<std::string> job_environment(const Job& job, const AttemptPlace& place);

// NAME of "NAME=value".
std::string_view variable_name(std::string_view variable);

// Whether the value differs from attempt to attempt of the same program: the job's folder, name,
// place and parameters.
bool is_of_attempt(std::string_view name);

}  // namespace lockstep
