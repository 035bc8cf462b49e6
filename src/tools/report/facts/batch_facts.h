// Reads facts and measurements of a batch, from its ledger and its GPUs' log.
#pragma once

#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/report/facts/facts.h"

namespace lockstep {

// Returns the facts of a batch, except facts that follow from its jobs. The function match_jobs()
// adds those, because they depend on the jobs of both sides of a comparison. Throws Error if the
// ledger cannot be read.
Trial read_batch_facts(const BatchFolder& batch);

// Summarises lines "NAME: WHY" in one line. Each line names a part of the data that has no job. A
// single line is given with its reason. Several lines are given as their number and the first
// names. There must be at least one line.
std::string left_out_note(const std::vector<std::string>& lines);

}  // namespace lockstep
