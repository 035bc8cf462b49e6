// The facts and measurements of a batch, from its ledger and its GPUs' log.
#pragma once

#include "jobs/batch_folder.h"
#include "report/facts.h"

namespace lockstep {

// What follows from its jobs comes with match_jobs, which sees both sides. Throws Error where the
// ledger cannot be read.
Trial read_batch_facts(const BatchFolder& batch);

}  // namespace lockstep
