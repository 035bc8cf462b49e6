// How the items of a prediction are shared out among ranks: the tasks that ranks take one at a
// time.
#pragma once

#include "planning/order/predict_items.h"

#include <cstdint>
#include <set>
#include <vector>

namespace lockstep {

// Items that follow each other, or a piece of one item.
struct ItemTask {
  std::int64_t begin = 0, end = 0;  // range of the items
  std::int64_t piece = 0, pieces = 1;
};

// The tasks in the order in which ranks take them. Items stay whole, `batch` of them at once, until
// fewer are left than ranks. These last ones are split into as many pieces as leave no rank idle,
// as far as PredictItem::pieces allows. With a `batch` above 1, nothing is split. The pieces of an
// item follow each other. done: parts (of `batch` items each, numbered from 0) that need no task.
std::vector<ItemTask> item_tasks(const std::vector<PredictItem>& items, std::int64_t batch,
                                 std::int64_t ranks, const std::set<std::int64_t>& done = {});

// How many of the devices have something to do at the same time; at least 1.
std::int64_t ranks_for_items(const std::vector<PredictItem>& items, std::int64_t batch,
                             std::int64_t devices, const std::set<std::int64_t>& done = {});

}  // namespace lockstep
