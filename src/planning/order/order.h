// The order of samples: pure functions of (seed, epoch, place), the same on any number of ranks.
// training/data/training_rows.h chooses among them.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <functional>
#include <vector>

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

// Samples drawn with replacement by weights, each draw a function of (seed, epoch, place) in O(1):
// the alias method (Walker 1977; the table as Vose 1991 makes it).
class WeightedDraw {
 public:
  // weights: finite, none negative, not all 0. Throws Error, which says what is wrong with them.
  WeightedDraw(std::uint64_t seed, const std::vector<double>& weights);
  std::int64_t at(std::int64_t epoch, std::int64_t place) const;

 private:
  std::uint64_t seed_;
  std::vector<double> keep_;         // how much of column i is i's own
  std::vector<std::int64_t> alias_;  // which sample the rest belongs to
};

// The sample at a place in [0, size) of an epoch; pure, any thread.
using SampleAt = std::function<std::int64_t(std::int64_t epoch, std::int64_t place)>;

// Places [0, size) of each epoch over a permutation of `count` samples. With fewer places than
// samples, some samples are left out, different ones in each epoch. With more places, samples come
// again, each time in another order.
SampleAt permuted_order(std::uint64_t seed, std::int64_t count, std::int64_t size, bool shuffle);

// A row of a micro-batch. Rows beyond the epoch's last place, or beyond the rows of a step, are
// padding of weight 0. Their memory holds some sample (`filler`), which counts for nothing.
struct Row {
  std::int64_t global_row = 0;  // row in the global batch of the step: [0, places)
  std::int64_t epoch = 0;
  std::int64_t sample = -1;  // index into the dataset; -1 = padding, weight 0
  std::int64_t filler = -1;  // for padding: the sample that it holds; -1 = any row of its batch
  std::int64_t part = 0;     // which of its sample's rows
};

// The global row with which a rank's micro-batch begins. Rank r takes global rows
// [r * micro * accumulation, (r + 1) * micro * accumulation), and its micro-batch m is the m-th
// slice of `micro` of them. With norm_rows, its micro-batch m is instead the r-th slice of `micro`
// rows in the m-th run of norm_rows rows. So the samples of a step are those of the global batch.
std::int64_t first_global_row(const BatchPlan& batch, int rank, std::int64_t micro_index);

// An epoch cut into steps of `global` samples, of `rows_per_sample` rows each.
struct EpochSteps {
  std::int64_t size = 0;  // places
  std::int64_t global = 1, rows_per_sample = 1;
  bool drop_last = false;
  // Whether padding holds samples of its own step (where samples of like length stand together),
  // instead of the epoch's first samples once more.
  bool fill_from_own_step = false;

  std::int64_t steps() const { return count_epoch_steps(size, global, drop_last); }
  // Samples of step `step` (from 0): the last of an epoch may have fewer, besides padding.
  std::int64_t samples(std::int64_t step) const;
  // Row `global_row` of step `step` (from 0); `order` says which samples lie where.
  Row row_at(const SampleAt& order, std::int64_t step, std::int64_t global_row) const;
};

}  // namespace lockstep
