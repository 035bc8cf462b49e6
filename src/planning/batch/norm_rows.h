// How many rows the statistics of batch norm span with norm.statistics=sync: norm.rows = ranks *
// micro-batch, which a run keeps on any number of ranks.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>

namespace lockstep {

// The micro-batch that norm.rows leaves to a rank; 0: norm.rows is not set, or has no effect.
// Throws Error, naming the nearest sizes, if the rows do not divide, or if the options contradict
// each other.
std::int64_t micro_of_norm_rows(const TrainOptions& options, std::int64_t ranks,
                                const std::string& rank_word);

// The rows that statistics span, once the batch is solved; 0 without norm.statistics=sync. Throws
// Error if some ranks would have only padding, since the rows would then differ between numbers of
// ranks.
std::int64_t norm_rows_of(const TrainOptions& options, const BatchPlan& batch);

}  // namespace lockstep
