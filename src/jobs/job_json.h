// A job as JSON: what the ledger keeps of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "jobs/job.h"

namespace lockstep {

// Only what differs from a default job; without number, name and key. Keys in alphabetical order,
// no spaces. Throws Error where a text of the job is no valid UTF-8.
std::string job_json(const Job& job);
// Throws Error where it is no job.
Job job_from_json(const nlohmann::json& value);

}  // namespace lockstep
