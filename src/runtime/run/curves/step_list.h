// Log entries at steps, without those that a later resume took back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace lockstep {

// Keeps the order of the log, whose steps may be in any order. A log of n entries and resumes takes
// n log n time, whatever it contains.
template <class Item>
class StepList {
 public:
  void add(std::int64_t step, Item item) {
    by_step_.emplace(step, items_.size());
    items_.emplace_back(std::move(item));
  }

  // Drops entries of steps later than `after`.
  void take_back(std::int64_t after) {
    for (; !by_step_.empty() && by_step_.top().first > after; by_step_.pop())
      items_[by_step_.top().second].reset();
    while (!items_.empty() && !items_.back()) items_.pop_back();
  }

  // The last valid entry; null if there is none.
  const Item* last() const { return items_.empty() ? nullptr : &*items_.back(); }

  // All valid entries; the list is empty afterwards.
  std::vector<Item> take() {
    std::vector<Item> all;
    for (std::optional<Item>& item : items_)
      if (item) all.push_back(std::move(*item));
    *this = {};
    return all;
  }

 private:
  std::vector<std::optional<Item>> items_;                             // nothing: taken back
  std::priority_queue<std::pair<std::int64_t, std::size_t>> by_step_;  // the latest step first
};

}  // namespace lockstep
