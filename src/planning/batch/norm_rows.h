// The number of rows over which batch norm computes statistics with norm.statistics=sync. The
// number is ranks * micro-batch, and the option norm.rows can set it. A run keeps the number on any
// number of ranks.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>

namespace lockstep {

// The micro-batch of a rank that follows from norm.rows; 0 if norm.rows is not set. Throws Error
// with the nearest valid sizes if norm.rows is not divisible by the number of ranks. Also throws
// Error if the options contradict each other.
std::int64_t micro_of_norm_rows(const TrainOptions& options, std::int64_t ranks,
                                const std::string& rank_word);

// The rows that statistics span in the solved batch; 0 without norm.statistics=sync. Throws Error
// if the batch has padding, because the rows would then differ between numbers of ranks.
std::int64_t norm_rows_of(const TrainOptions& options, const BatchPlan& batch);

}  // namespace lockstep
