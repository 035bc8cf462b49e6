// Changes of the micro-batch, as options and as arithmetic.
#include "plan/micro_batches.h"

#include "fakes/error_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MicroBatches, AreParsedAsRecorded) {
  EXPECT_THAT(parse_micro_changes("", "k"), IsEmpty());
  EXPECT_THAT(
      parse_micro_changes("0:8,300:4", "k"),
      ElementsAre(MicroChange{.step = 0, .micro = 8}, MicroChange{.step = 300, .micro = 4}));
}

TEST(MicroBatches, RefuseWhatIsNoSchedule) {
  for (const char* text : {"8", "1:2:3", "a:4", "4:a", "4:0", "-1:4", "4:4,", ":", "4: 4"})
    EXPECT_THROW(parse_micro_changes(text, "k"), Error) << text;
  EXPECT_THROW(parse_micro_changes("9:4,9:2", "k"), Error);
  const BatchPlan batch{.world_size = 2, .micro = 8, .accumulation = 1, .global = 16};
  EXPECT_THROW(check_micro_changes({{.step = 1, .micro = 3}}, batch, "k"), Error);
  EXPECT_NO_THROW(check_micro_changes({{.step = 1, .micro = 4}}, batch, "k"));
}

TEST(MicroBatches, ShrinkToTheNextDivisorOfTheShare) {
  BatchPlan batch{.world_size = 2, .micro = 12, .accumulation = 1, .global = 24};
  std::vector<std::int64_t> sizes;
  while (const std::int64_t next = next_smaller_micro(batch)) {
    batch = with_micro(batch, next);
    EXPECT_EQ(batch.world_size * batch.micro * batch.accumulation, 24);
    sizes.push_back(next);
  }
  EXPECT_THAT(sizes, ElementsAre(6, 4, 3, 2, 1));
}

}  // namespace
}  // namespace lockstep
