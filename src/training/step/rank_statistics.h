// Statistics of batch norm that span the ranks (norm.statistics=sync), and what they forbid.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "planning/options/train_options.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/process_group.h"

#include <memory>
#include <string>

namespace lockstep {

// How the ranks add them up; null where each rank has its own. The group outlives it.
std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks(const TrainOptions& options,
                                                             ProcessGroup& group);

// For a pass that only one rank goes through: the others' rows are missing, nothing is waited for.
// Null stays null.
std::shared_ptr<const StatisticsOfRanks> without_the_others(
    const std::shared_ptr<const StatisticsOfRanks>& of_ranks);

// Where they span the ranks, memory may not run out: the others wait for this rank in the middle of
// the pass, and would wait in vain. The micro-batch cannot shrink without changing what they span.
// why: what the lack of memory said; may be empty. Throws Error.
[[noreturn]] void fail_where_ranks_wait(Phase failed, const std::string& why = "");

}  // namespace lockstep
