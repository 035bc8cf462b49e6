// Says which sample is in each row of a training step. If the dataset has its own order, that order
// is checked.
#pragma once

#include "planning/order/order.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <functional>

namespace lockstep {

struct OrderOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool drop_last = false, group_by_length = false;
};

// Returns row `global_row` of step `step`. Pure, and called from several threads.
using RowOf = std::function<Row(std::int64_t step, std::int64_t global_row)>;

// Returns the rows of steps of `global` samples. The dataset must outlive the result. Throws Error
// that names the dataset's fault: sizes, weights, a sample out of range, an unknown length. It is
// thrown here or when a row is requested.
RowOf training_rows(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// For measuring the peak of memory: returns the longest samples first, if the dataset reports
// lengths. Otherwise the same as `training_rows`.
RowOf longest_rows_first(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// Throws the errors that `training_rows` would throw at once.
void check_order(const Dataset& dataset, const OrderOptions& options);

}  // namespace lockstep
