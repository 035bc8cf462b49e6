// Statistics of batch norm that span the ranks (norm.statistics=sync), and the restrictions that
// follow from them.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "planning/options/train_options.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/process_group.h"

#include <memory>
#include <string>

namespace lockstep {

// Returns the object by which the ranks add up the statistics. Null if each rank has its own
// statistics. The group outlives the result.
std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks(const TrainOptions& options,
                                                             ProcessGroup& group);

// For a pass that only one rank computes. The statistics lack the rows of the other ranks, and the
// rank does not wait for them. Null stays null.
std::shared_ptr<const StatisticsOfRanks> without_the_others(
    const std::shared_ptr<const StatisticsOfRanks>& of_ranks);

// Throws Error when memory ran out and the statistics span the ranks. The other ranks wait for this
// rank in the middle of the pass, and would wait in vain. A smaller micro-batch is no remedy,
// because it would change the rows of the statistics. why: the error message of the lack of memory;
// may be empty.
[[noreturn]] void fail_where_ranks_wait(Phase failed, const std::string& why = "");

}  // namespace lockstep
