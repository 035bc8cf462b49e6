// Lets the statistics of batch norm span the ranks (norm.statistics=sync), and handles the
// restrictions of this mode.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "planning/options/train_options.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/process_group.h"

#include <memory>
#include <string>

namespace lockstep {

// Returns the object with which batch norm adds up statistics over the ranks. Returns null if each
// rank has its own statistics. `group` must outlive the result.
std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks(const TrainOptions& options,
                                                             ProcessGroup& group);

// Returns statistics for a forward and backward pass that only this rank computes. They contain
// this rank's rows only, so the rank does not wait for other ranks. Returns null if `of_ranks` is
// null.
std::shared_ptr<const StatisticsOfRanks> without_the_others(
    const std::shared_ptr<const StatisticsOfRanks>& of_ranks);

// Throws the Error that ends a run when memory ran out and statistics span the ranks. The other
// ranks then wait for this rank in the middle of a forward or backward pass, so the step cannot be
// repeated. A smaller micro-batch would not help, because it would change the statistics. why: the
// out-of-memory message; may be empty.
[[noreturn]] void fail_where_ranks_wait(Phase failed, const std::string& why = "");

}  // namespace lockstep
