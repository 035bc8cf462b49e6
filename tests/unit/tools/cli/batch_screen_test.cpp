#include "tools/cli/batch/batch_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(BatchScreen, HasARowPerDeviceAndSlotInColumns) {
  const std::vector<ScreenDevice> devices{{.name = "GPU 0",
                                           .activity_percent = 73.4,
                                           .used_bytes = 3LL << 29,
                                           .total_bytes = 80LL << 30,
                                           .jobs = 2},
                                          {.name = "GPU 10", .waits_for = "python3 x.py"}};
  const std::vector<ScreenSlot> slots{
      {.slot = 0, .job = "lr=0.1", .where = "GPU 0", .seconds = 1.25},
      {.slot = 11, .job = "lr=0.01", .where = "GPU 0", .seconds = 100}};
  EXPECT_THAT(batch_screen("3 done of 5", devices, slots, 80, 10),
              ElementsAre("3 done of 5",  //
                          "  GPU 0   73 % active  1.5 of 80.0 GiB  2 jobs",
                          "  GPU 10                                waits for python3 x.py",
                          "  slot 0   GPU 0  1.2 s  lr=0.1",  //
                          "  slot 11  GPU 0  100 s  lr=0.01"));
}

TEST(BatchScreen, LeavesOutColumnsThatAreEmpty) {
  EXPECT_THAT(batch_screen("x", {}, {{.job = "a"}}, 80, 10),
              ElementsAre("x", "  slot 0  0.0 s  a"));
}

TEST(BatchScreen, NeverTakesMoreRoomThanThereIs) {
  const std::vector<ScreenSlot> slots(40, {.job = std::string(100, 'j')});
  for (const int height : {1, 2, 3, 24}) {
    const std::vector<std::string> lines =
        batch_screen(std::string(99, 'c'), {{}}, slots, 30, height);
    EXPECT_THAT(lines, SizeIs(height));
    for (const std::string& line : lines) EXPECT_LE(line.size(), 32U) << line;  // … has three bytes
  }
  EXPECT_EQ(batch_screen("x", {}, slots, 30, 24).back(), "  and 18 more");
}

}  // namespace
}  // namespace lockstep::cli
