// Reads facts and measurements of a batch, from its ledger and its GPUs' log.
#pragma once

#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/report/facts/facts.h"

namespace lockstep {

// Returns the facts of a batch without those that follow from its jobs. match_jobs() adds these,
// because they depend on the jobs of both sides of a comparison. Throws Error if the ledger cannot
// be read.
Trial read_batch_facts(const BatchFolder& batch);

// Summarises lines "NAME: WHY" in one line. Each names something that has no job. A single line is
// given with its reason. Several lines become their number and the first names. There must be at
// least one line.
std::string left_out_note(const std::vector<std::string>& lines);

}  // namespace lockstep
