// A job as text: what the ledger keeps of it, and what a supervisor is told.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jobs/job.h"

namespace lockstep {

// Only what differs from a default job; without number, name and key.
nlohmann::json job_json(const Job& job);
// Throws Error where it is no job.
Job job_from_json(const nlohmann::json& value);

}  // namespace lockstep
