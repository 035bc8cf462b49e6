#include "plan/item_tasks.h"

#include <algorithm>

namespace lockstep {

std::vector<ItemTask> item_tasks(const std::vector<PredictItem>& items, std::int64_t batch,
                                 std::int64_t ranks) {
  const auto count = static_cast<std::int64_t>(items.size());
  const std::int64_t rest = batch == 1 ? count % ranks : 0;
  std::vector<ItemTask> tasks;
  for (std::int64_t begin = 0; begin < count; begin += batch) {
    const ItemTask whole{.begin = begin, .end = std::min(begin + batch, count)};
    const std::int64_t most = items[static_cast<std::size_t>(begin)].pieces;
    const std::int64_t pieces =
        begin < count - rest
            ? 1
            : std::clamp<std::int64_t>(ranks / rest, 1, std::max<std::int64_t>(1, most));
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      ItemTask task = whole;
      task.piece = piece;
      task.pieces = pieces;
      tasks.push_back(task);
    }
  }
  return tasks;
}

std::int64_t ranks_for_items(const std::vector<PredictItem>& items, std::int64_t batch,
                             std::int64_t devices) {
  const auto tasks = static_cast<std::int64_t>(item_tasks(items, batch, devices).size());
  return std::clamp<std::int64_t>(tasks, 1, devices);
}

}  // namespace lockstep
