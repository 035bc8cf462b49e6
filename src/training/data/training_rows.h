// Says which sample is in each row of a training step.
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

// Returns row `global_row` of the global batch of step `step`. The function must be pure, because
// several threads call it.
using RowOf = std::function<Row(std::int64_t step, std::int64_t global_row)>;

// Returns a function that finds the rows of training steps. global: the number of samples in a
// step. The dataset must outlive the result. Throws Error if the dataset reports a size below 1,
// invalid weights, or a sample out of range. Also throws Error if data.group_by_length is true and
// a length is unknown. If such a fault shows only in some rows, the returned function throws Error
// for these rows.
RowOf training_rows(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// Returns a function like that of training_rows, but the longest samples come first, to measure the
// peak of memory. If the dataset does not report lengths, returns the result of training_rows.
RowOf longest_rows_first(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// Throws the errors that training_rows itself throws.
void check_order(const Dataset& dataset, const OrderOptions& options);

}  // namespace lockstep
