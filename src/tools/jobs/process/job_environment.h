// The environment of an attempt's processes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// The file in the attempt's folder to which LOCKSTEP_EVENTS points.
inline constexpr const char* events_file = "events.jsonl";

struct AttemptPlace {
  std::string mark;  // LOCKSTEP_ATTEMPT
  std::string out;   // absolute: LOCKSTEP_OUT
  int number = 1;    // among the attempts of this job
  int slot = 0;
  int threads = 1;                   // cores assigned, at least 1
  std::vector<std::string> devices;  // UUIDs; empty: it sees no GPU (LOCKSTEP_DEVICE=cpu)
};

// Returns texts "NAME=value". The job's own variables take precedence, except over those that say
// where it runs. GPUs are given by UUID, so the program's own indexes begin at 0.
std::vector<std::string> job_environment(const Job& job, const AttemptPlace& place);

// NAME in "NAME=value".
std::string_view variable_name(std::string_view variable);

// Whether the variable's value differs between attempts of one program: the job's folder, name,
// place and parameters.
bool is_of_attempt(std::string_view name);

}  // namespace lockstep
