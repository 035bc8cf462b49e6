// The environment of an attempt's processes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// In the attempt's folder: the target of LOCKSTEP_EVENTS.
inline constexpr const char* events_file = "events.jsonl";

struct AttemptPlace {
  std::string mark;  // LOCKSTEP_ATTEMPT
  std::string out;   // absolute: LOCKSTEP_OUT
  int number = 1;    // among the attempts of this job
  int slot = 0;
  int threads = 1;                   // cores assigned, at least 1
  std::vector<std::string> devices;  // UUIDs; empty: it sees no GPU (LOCKSTEP_DEVICE=cpu)
};

// "NAME=value". The job's own variables take precedence, except over those that tell its place.
// GPUs are given by UUID, so that an index in the program counts among its own.
std::vector<std::string> job_environment(const Job& job, const AttemptPlace& place);

// NAME in "NAME=value".
std::string_view variable_name(std::string_view variable);

// Whether the value differs between attempts of the same program: the job's folder, name, place and
// parameters.
bool is_of_attempt(std::string_view name);

}  // namespace lockstep
