// Log entries by step. If the run was resumed from an earlier step, entries of later steps are
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace lockstep {

// Keeps the entries in the order of the log. Their steps may have any order. n entries and resumes
// take O(n log n) time.
template <class Item>
class StepList {
 public:
  void add(std::int64_t step, Item item) {
    by_step_.emplace(step, items_.size());
    items_.emplace_back(std::move(item));
  }

  // The run was resumed after step `after`. Drops the entries of later steps.
  void take_back(std::int64_t after) {
    for (; !by_step_.empty() && by_step_.top().first > after; by_step_.pop())
      items_[by_step_.top().second].reset();
    while (!items_.empty() && !items_.back()) items_.pop_back();
  }

  // The last entry that was not dropped; null if there is none.
  const Item* last() const { return items_.empty() ? nullptr : &*items_.back(); }

  // Returns all entries that were not dropped, and empties the list.
  std::vector<Item> take() {
    std::vector<Item> all;
    for (std::optional<Item>& item : items_)
      if (item) all.push_back(std::move(*item));
    *this = {};
    return all;
  }

 private:
  // nothing for a dropped entry
  std::vector<std::optional<Item>> items_;
  std::priority_queue<std::pair<std::int64_t, std::size_t>> by_step_;  // the latest step first
};

}  // namespace lockstep
