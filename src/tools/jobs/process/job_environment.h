// Makes the environment variables of an attempt's processes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// The name of the file in the attempt's folder to which LOCKSTEP_EVENTS points.
inline constexpr const char* events_file = "events.jsonl";

struct AttemptPlace {
  std::string mark;  // value of LOCKSTEP_ATTEMPT
  std::string out;   // the attempt's folder, absolute: value of LOCKSTEP_OUT
  int number = 1;    // number among the attempts of this job, from 1
  int slot = 0;
  int threads = 1;  // number of assigned cores, at least 1
  // UUIDs of its GPUs; if empty, the attempt sees no GPU (LOCKSTEP_DEVICE=cpu)
  std::vector<std::string> devices;
};

// Returns texts "NAME=value". The job's own variables take precedence over all others, except those
// that say where the attempt runs. GPUs are given by UUID, so the program's own device indexes
// begin at 0.
std::vector<std::string> job_environment(const Job& job, const AttemptPlace& place);

// Returns the part NAME of "NAME=value".
std::string_view variable_name(std::string_view variable);

// Whether the variable may differ between attempts that run the same program. These variables hold
// the job's folder, name, place and parameters.
bool is_of_attempt(std::string_view name);

}  // namespace lockstep
