// Reports the progress of the item that a rank predicts, from the recipe to the code that shows it.
#pragma once

#include <functional>
#include <string>

namespace lockstep {

// Reports that `done` of `total` steps are done for the item, or piece of an item, that this thread
// predicts. Steps are in the recipe's unit ("tiles"). `done` may include parts of a step. Cheap,
// and does nothing outside of a prediction.
void report_item_progress(double done, double total, const std::string& unit);

// While it exists, reports of this thread go to `take`. Only one may exist at a time.
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
