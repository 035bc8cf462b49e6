// The order of samples, as pure functions of (seed, epoch, place). A place is a position in the
// order of an epoch. The functions do not depend on the number of ranks.
// training/data/training_rows.h chooses which of the functions a run uses.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

// A random permutation of [0, count) for each (seed, epoch). It computes one element at a time in
// O(1) memory, with a Feistel network and cycle walking. With shuffle = false, it is the identity.
class SampleOrder {
 public:
  SampleOrder(std::uint64_t seed, std::int64_t count, bool shuffle);
  std::int64_t at(std::int64_t epoch, std::int64_t position) const;  // position in [0, count)
 private:
  std::uint64_t key_;
  std::int64_t count_;
  bool shuffle_;
};

// Draws samples with replacement by weight. Each draw is a function of (seed, epoch, place) in
// O(1). It uses the alias method (Walker 1977), with the table built as in Vose 1991.
class WeightedDraw {
 public:
  // weights: finite, not negative, and not all 0. Throws Error for other weights.
  WeightedDraw(std::uint64_t seed, const std::vector<double>& weights);
  std::int64_t at(std::int64_t epoch, std::int64_t place) const;

 private:
  std::uint64_t seed_;
  std::vector<double> keep_;         // probability of sample i when column i of the table is drawn
  std::vector<std::int64_t> alias_;  // the sample that column i gives otherwise
};

// The sample at a place in [0, size) of an epoch. The function is pure, and any thread may call it.
using SampleAt = std::function<std::int64_t(std::int64_t epoch, std::int64_t place)>;

// Makes epochs of `size` places from `count` samples. With fewer places than samples, each epoch
// leaves out different samples. With more places than samples, all samples repeat, each time in
// another order. With shuffle = false, samples follow in dataset order, and each epoch begins where
// the last one ended.
SampleAt permuted_order(std::uint64_t seed, std::int64_t count, std::int64_t size, bool shuffle);

// A row of a micro-batch. A row is padding of weight 0 if it lies beyond the last place of the
// epoch, or beyond the rows of a step. Its memory then holds the sample `filler`, which does not
// affect results.
struct Row {
  std::int64_t global_row = 0;  // row in the global batch of the step: [0, places)
  std::int64_t epoch = 0;
  std::int64_t sample = -1;  // index into the dataset; -1 = padding, weight 0
  std::int64_t filler = -1;  // for padding: the sample in its memory; -1 = any row of the batch
  std::int64_t part = 0;     // index among the rows of its sample
};

// The first global row of a rank's micro-batch. Rank r has global rows [r * micro * accumulation,
// (r + 1) * micro * accumulation), and its micro-batch m is the m-th slice of `micro` rows. With
// norm_rows, the global batch is cut into blocks of norm_rows consecutive rows instead. Micro-batch
// m of rank r is then the r-th slice of `micro` rows in block m. In both cases the step has the
// same samples.
std::int64_t first_global_row(const BatchPlan& batch, int rank, std::int64_t micro_index);

// An epoch that is cut into steps of `global` samples with `rows_per_sample` rows each.
struct EpochSteps {
  std::int64_t size = 0;  // places of the epoch
  std::int64_t global = 1, rows_per_sample = 1;
  bool drop_last = false;
  // Whether padding holds samples of its own step. This is useful if steps hold samples of similar
  // length. If false, padding holds the first samples of the epoch again.
  bool fill_from_own_step = false;

  std::int64_t steps() const { return count_epoch_steps(size, global, drop_last); }
  // The number of samples of step `step` (from 0). The last step of an epoch may have fewer.
  std::int64_t samples(std::int64_t step) const;
  // Row `global_row` of step `step` (from 0). `order` gives the sample at each place.
  Row row_at(const SampleAt& order, std::int64_t step, std::int64_t global_row) const;
};

}  // namespace lockstep
