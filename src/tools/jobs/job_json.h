// Converts a job to JSON as the ledger stores it, and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/jobs/job.h"

namespace lockstep {

// Returns the job without its number, name and key. Command and folder are always included. Other
// values are included only if they differ from the default. Keys are in alphabetical order, without
// spaces. Throws Error if a text of the job is not valid UTF-8.
std::string job_json(const Job& job);
// The inverse of job_json(). Throws Error if the value is not a job.
Job job_from_json(const nlohmann::json& value);

}  // namespace lockstep
