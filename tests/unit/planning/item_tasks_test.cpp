// Who predicts what.
#include "planning/order/item_tasks.h"

#include <gtest/gtest.h>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

// "0-1 2/0:3" of tasks: items 0 and 1, then piece 0 of 3 of item 2.
std::string tasks_text(const std::vector<PredictItem>& items, std::int64_t batch,
                       std::int64_t ranks, const std::set<std::int64_t>& done = {}) {
  std::vector<std::string> words;
  for (const ItemTask& task : item_tasks(items, batch, ranks, done)) {
    std::string word = cat(task.begin);
    if (task.end > task.begin + 1) word += cat("-", task.end - 1);
    if (task.pieces > 1) word += cat("/", task.piece, ":", task.pieces);
    words.push_back(word);
  }
  return join(words, " ");
}

std::vector<PredictItem> items_of(std::int64_t count, std::int64_t pieces) {
  return std::vector<PredictItem>(static_cast<std::size_t>(count), PredictItem{.pieces = pieces});
}

TEST(ItemTasks, AreItemsWholeUntilFewerAreLeftThanRanks) {
  EXPECT_EQ(tasks_text(items_of(4, 9), 1, 2), "0 1 2 3");
  EXPECT_EQ(tasks_text(items_of(5, 9), 1, 2), "0 1 2 3 4/0:2 4/1:2");
  EXPECT_EQ(tasks_text(items_of(1, 9), 1, 4), "0/0:4 0/1:4 0/2:4 0/3:4");
  EXPECT_EQ(tasks_text(items_of(2, 9), 1, 5), "0/0:2 0/1:2 1/0:2 1/1:2");
  EXPECT_EQ(tasks_text(items_of(3, 9), 1, 4), "0 1 2");
  EXPECT_EQ(tasks_text({}, 1, 4), "");
}

TEST(ItemTasks, AreNoMorePiecesThanAnItemHas) {
  EXPECT_EQ(tasks_text(items_of(1, 3), 1, 8), "0/0:3 0/1:3 0/2:3");
  EXPECT_EQ(tasks_text(items_of(1, 1), 1, 8), "0");
  EXPECT_EQ(tasks_text(items_of(1, 0), 1, 8), "0");
}

TEST(ItemTasks, AreBatchesThatAreNeverSplit) {
  EXPECT_EQ(tasks_text(items_of(5, 9), 2, 4), "0-1 2-3 4");
}

TEST(ItemTasks, LeaveOutWhatIsDone) {
  EXPECT_EQ(tasks_text(items_of(5, 9), 1, 2, {0, 2}), "1 3 4/0:2 4/1:2");
  EXPECT_EQ(tasks_text(items_of(5, 9), 1, 4, {0, 1, 2}), "3/0:2 3/1:2 4/0:2 4/1:2");
  EXPECT_EQ(tasks_text(items_of(5, 9), 2, 4, {1}), "0-1 4");
  EXPECT_EQ(tasks_text(items_of(2, 9), 1, 4, {0, 1}), "");
  EXPECT_EQ(ranks_for_items(items_of(5, 1), 1, 4, {0, 1, 2}), 2);
  EXPECT_EQ(ranks_for_items(items_of(2, 1), 1, 4, {0, 1}), 1);
}

TEST(ItemTasks, SayHowManyDevicesHaveSomethingToDo) {
  EXPECT_EQ(ranks_for_items(items_of(5, 9), 1, 4), 4);
  EXPECT_EQ(ranks_for_items(items_of(1, 9), 1, 4), 4);
  EXPECT_EQ(ranks_for_items(items_of(1, 1), 1, 4), 1);
  EXPECT_EQ(ranks_for_items(items_of(3, 9), 1, 8), 6);
  EXPECT_EQ(ranks_for_items(items_of(5, 9), 2, 4), 3);
}

}  // namespace
}  // namespace lockstep
