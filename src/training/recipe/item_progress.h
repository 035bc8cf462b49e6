// How far the item is that a rank predicts: from the recipe to whoever shows it.
#pragma once

#include <functional>
#include <string>

namespace lockstep {

// Reports that `done` of `total` steps are done for the item, or the piece of one, that this thread
// predicts. Steps are in the recipe's unit ("tiles"); `done` may count parts of a step. Cheap; does
// nothing outside of a prediction.
void report_item_progress(double done, double total, const std::string& unit);

// While it lives, reports of this thread go to `take`. One at a time.
class ItemProgressTaker {
 public:
  using Take = std::function<void(double done, double total, const std::string& unit)>;
  explicit ItemProgressTaker(Take take);
  ~ItemProgressTaker();
  ItemProgressTaker(const ItemProgressTaker&) = delete;
  ItemProgressTaker& operator=(const ItemProgressTaker&) = delete;

 private:
  Take take_;
};

}  // namespace lockstep
