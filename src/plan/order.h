// Which sample stands where: pure functions of (seed, epoch, global_row), the same on any number of
// ranks.
#pragma once

#include "plan/plan.h"

#include <cstdint>

namespace lockstep {

// A permutation of [0, count) for each (seed, epoch), one element at a time, in O(1) memory
// (a Feistel network with cycle walking). With shuffle = false: the identity.
class SampleOrder {
 public:
  SampleOrder(std::uint64_t seed, std::int64_t count, bool shuffle);
  std::int64_t at(std::int64_t epoch, std::int64_t position) const;  // position in [0, count)
 private:
  std::uint64_t key_;
  std::int64_t count_;
  bool shuffle_;
};

// A row of a micro-batch. Steps run through epochs of steps_per_epoch = ceil(count / global) steps;
// rows beyond the epoch's last sample are padding: they hold the epoch's first samples once more,
// with weight 0.
struct Row {
  std::int64_t global_row = 0;  // in the global batch of the step: [0, global)
  std::int64_t epoch = 0;
  std::int64_t sample = -1;  // index into the dataset; -1 = padding, weight 0
  std::int64_t filler = -1;  // of padding: the sample that it holds; -1 = any row of its batch
};

// Rank r takes global rows [r * micro * accumulation, (r + 1) * micro * accumulation), micro-batch
// m of it the m-th slice of `micro` global rows. So the set of samples of a step is that of the
// global batch.
std::int64_t first_global_row(const BatchPlan& batch, int rank, std::int64_t micro_index);

// Row `global_row` of step `step` (from 0).
Row row_at(const SampleOrder& order, std::int64_t count, std::int64_t global, std::int64_t step,
           std::int64_t global_row);

}  // namespace lockstep
