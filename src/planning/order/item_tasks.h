// Divides the items of a prediction into tasks. Each rank takes one task at a time.
#pragma once

#include "planning/order/predict_items.h"

#include <cstdint>
#include <set>
#include <vector>

namespace lockstep {

// Consecutive items, or a piece of one item.
struct ItemTask {
  std::int64_t begin = 0, end = 0;  // range of the items
  std::int64_t piece = 0, pieces = 1;
};

// Returns the tasks in the order in which ranks take them. A task has `batch` items. If `batch` is
// 1, the last items, which are too few for all ranks, are split into pieces. Each of them is split
// into `ranks` / (number of these items) pieces, rounded down, but at most PredictItem::pieces. The
// pieces of an item follow each other. done: numbers (from 0) of groups of `batch` items that need
// no task.
std::vector<ItemTask> item_tasks(const std::vector<PredictItem>& items, std::int64_t batch,
                                 std::int64_t ranks, const std::set<std::int64_t>& done = {});

// How many of the devices can work at the same time; at least 1.
std::int64_t ranks_for_items(const std::vector<PredictItem>& items, std::int64_t batch,
                             std::int64_t devices, const std::set<std::int64_t>& done = {});

}  // namespace lockstep
