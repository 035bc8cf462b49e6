// Converts a job to JSON and back, as the ledger stores it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/jobs/job.h"

namespace lockstep {

// Contains only values that differ from a default job's, without number, name and key. Keys are in
// alphabetical order, without spaces. Throws Error if a text of the job is not valid UTF-8.
std::string job_json(const Job& job);
// Throws Error if the value is not a job.
Job job_from_json(const nlohmann::json& value);

}  // namespace lockstep
