// Which sample each row of a training step holds: what the dataset says of its order, checked.
#pragma once

#include "data/dataset.h"
#include "plan/order.h"

#include <cstdint>
#include <functional>

namespace lockstep {

struct OrderOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool drop_last = false, group_by_length = false;
};

// Row `global_row` of step `step`; pure, called from several threads.
using RowOf = std::function<Row(std::int64_t step, std::int64_t global_row)>;

// The rows of steps of `global` samples. The dataset outlives it. Throws Error, here or where a row
// is asked for, naming what of the dataset cannot be: sizes, weights, a sample out of range, a
// length that is not known.
RowOf training_rows(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// For finding out what memory the largest take: the longest samples first, as far as the dataset
// tells lengths, else as `training_rows`.
RowOf longest_rows_first(const Dataset& dataset, const OrderOptions& options, std::int64_t global);

// Throws what `training_rows` would throw at once.
void check_order(const Dataset& dataset, const OrderOptions& options);

}  // namespace lockstep
