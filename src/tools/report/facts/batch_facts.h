// Facts and measurements of a batch, from its ledger and its GPUs' log.
#pragma once

#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/report/facts/facts.h"

namespace lockstep {

// Lacks the facts that follow from the jobs: match_jobs adds them, since it sees both sides. Throws
// Error if the ledger cannot be read.
Trial read_batch_facts(const BatchFolder& batch);

// Summarises lines "NAME: WHY", each about something that has no job, in one line. A single line is
// given with its reason; of several, the number and the first names. There must be at least one.
std::string left_out_note(const std::vector<std::string>& lines);

}  // namespace lockstep
