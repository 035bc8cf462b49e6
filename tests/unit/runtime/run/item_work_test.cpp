// Steps of items, counted by ranks and added up.
#include "runtime/run/predictions/item_work.h"

#include "core/base/files/files.h"
#include "fakes/fake_clock.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

class Work : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  FakeClock clock;
  RankWork first{folder.path(), 0, clock}, second{folder.path(), 1, clock};
  WorkOfRanks ranks{folder.path()};
};

TEST_F(Work, IsAddedUpOverRanksAndEstimatedByBytes) {
  EXPECT_EQ(ranks.read().unit, "");
  first.begin(100);
  first.report(0.5, 10, "tiles");
  second.begin(300);
  second.report(6, 30, "tiles");
  ItemWork work = ranks.read();
  EXPECT_EQ(work.unit, "tiles");
  EXPECT_DOUBLE_EQ(work.done, 6.5);
  EXPECT_DOUBLE_EQ(work.begun, 40);
  EXPECT_DOUBLE_EQ(work.expected(1000), 100) << "a tile for 10 bytes";
  EXPECT_FALSE(work.knows_all(1000));
  EXPECT_DOUBLE_EQ(work.expected(400), 40);
  EXPECT_TRUE(work.knows_all(400));
  second.end();
  EXPECT_DOUBLE_EQ(ranks.read().done, 30.5);
}

TEST_F(Work, LeavesOutItemsThatEndWithoutSteps) {
  first.begin(100);
  first.end();
  EXPECT_EQ(ranks.read().unit, "");
  first.begin(100);
  first.report(1, 4, "tiles");
  const ItemWork work = ranks.read();
  EXPECT_DOUBLE_EQ(work.expected(300), 8) << "of 200 bytes that have steps";
  EXPECT_TRUE(work.knows_all(200));
}

TEST_F(Work, IsWrittenNowAndThenAndNeverMoreThanAll) {
  first.begin(100);
  first.report(1, 4, "tiles");
  first.report(2, 4, "tiles");
  EXPECT_DOUBLE_EQ(ranks.read().done, 1);
  clock.sleep_s(0.3);
  first.report(5, 4, "tiles");
  EXPECT_DOUBLE_EQ(ranks.read().done, 4);
  first.end();
  first.begin(100);
  first.report(0, 4, "tiles");
  EXPECT_DOUBLE_EQ(ranks.read().done, 4);
}

TEST(InputBytes, AreThoseOfAFileOrOfAFoldersFiles) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "a", "12345");
  write_file_atomic(folder.path() / "b", "123");
  EXPECT_EQ(input_bytes(folder.path() / "a"), 5);
  EXPECT_EQ(input_bytes(folder.path()), 8);
  EXPECT_EQ(input_bytes(folder.path() / "absent"), 0);
  EXPECT_EQ(input_bytes(""), 0);
}

TEST(LoadOfItems, HasTheMeanBytesOfTheirFiles) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "small", std::string(100, ' '));
  write_file_atomic(folder.path() / "large", std::string(500, ' '));
  std::vector<PredictItem> items(2);
  EXPECT_EQ(load_of(items).item_bytes, 0) << "words are no files";
  items[0].path = folder.path() / "small";
  items[1].path = folder.path() / "large";
  EXPECT_EQ(load_of(items).items, 2);
  EXPECT_EQ(load_of(items).item_bytes, 300);
  EXPECT_EQ(load_of({}).item_bytes, 0);
}

}  // namespace
}  // namespace lockstep
