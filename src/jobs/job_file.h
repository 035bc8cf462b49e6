#pragma once
#include "base/error.h"
#include "jobs/job.h"
namespace lockstep {
inline JobList read_job_file(const std::string&) { throw Error("stub"); }
}  // namespace lockstep
