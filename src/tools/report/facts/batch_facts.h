// Facts and measurements of a batch, from its ledger and its GPUs' log.
#pragma once

#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/report/facts/facts.h"

namespace lockstep {

// Facts derived from its jobs are added by match_jobs, which sees both sides. Throws Error if the
// ledger cannot be read.
Trial read_batch_facts(const BatchFolder& batch);

// One line for lines "NAME: WHY" about what has no job. A single one is given with its reason, else
// the number and the first names. At least one.
std::string left_out_note(const std::vector<std::string>& lines);

}  // namespace lockstep
