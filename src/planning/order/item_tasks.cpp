#include "planning/order/item_tasks.h"

#include <algorithm>
#include <iterator>

namespace lockstep {

std::vector<ItemTask> item_tasks(const std::vector<PredictItem>& items, std::int64_t batch,
                                 std::int64_t ranks, const std::set<std::int64_t>& done) {
  const auto count = static_cast<std::int64_t>(items.size());
  std::vector<ItemTask> left;
  for (std::int64_t begin = 0; begin < count; begin += batch)
    if (!done.contains(begin / batch))
      left.push_back({.begin = begin, .end = std::min(begin + batch, count)});
  const std::int64_t rest = batch == 1 ? std::ssize(left) % ranks : 0;
  std::vector<ItemTask> tasks;
  for (std::int64_t i = 0; i < std::ssize(left); ++i) {
    ItemTask task = left[static_cast<std::size_t>(i)];
    const std::int64_t most = items[static_cast<std::size_t>(task.begin)].pieces;
    task.pieces = i < std::ssize(left) - rest
                      ? 1
                      : std::clamp<std::int64_t>(ranks / rest, 1, std::max<std::int64_t>(1, most));
    for (task.piece = 0; task.piece < task.pieces; ++task.piece) tasks.push_back(task);
  }
  return tasks;
}

std::int64_t ranks_for_items(const std::vector<PredictItem>& items, std::int64_t batch,
                             std::int64_t devices, const std::set<std::int64_t>& done) {
  const auto tasks = static_cast<std::int64_t>(item_tasks(items, batch, devices, done).size());
  return std::clamp<std::int64_t>(tasks, 1, devices);
}

}  // namespace lockstep
