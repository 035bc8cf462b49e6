// Passes the progress of a prediction from the recipe to the code that displays it.
#pragma once

#include <functional>
#include <string>

namespace lockstep {

// Reports that `done` of `total` steps are done for the item or piece that this thread predicts.
// unit: the name of the recipe's steps, such as "tiles". `done` need not be a whole number. The
// call takes little time, and does nothing outside of a prediction.
void report_item_progress(double done, double total, const std::string& unit);

// While an object exists, report_item_progress passes the reports of its thread to `take`. A thread
// may have only one object at a time.
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
