// Strong scaling keeps the global batch, weak scaling a device's share of it.
#include "planning/batch/scaling.h"

#include "core/base/error.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const std::vector<int> counts = {1, 2, 4};

BatchPlan batch(std::int64_t global, std::int64_t micro, std::int64_t accumulation) {
  return {.micro = micro, .accumulation = accumulation, .global = global};
}

TEST(StrongScaling, KeepsTheGlobalBatch) {
  const TrainOptions options;
  for (const int count : counts) {
    const ScalingBatch chosen =
        scaling_batch(Scaling::strong, counts, count, batch(32, 16, 2), options);
    EXPECT_EQ(chosen.global, 32);
    EXPECT_EQ(chosen.micro, 0);
    EXPECT_EQ(chosen.accumulation, 0);
  }
}

TEST(StrongScaling, RoundsADefaultThatDoesNotDivideIntoAllCounts) {
  const TrainOptions options;
  EXPECT_EQ(scaling_batch(Scaling::strong, {1, 2, 3}, 1, batch(32, 32, 1), options).global, 30);
  EXPECT_EQ(scaling_batch(Scaling::strong, {1, 2, 4}, 2, batch(1, 1, 1), options).global, 4);
}

TEST(StrongScaling, KeepsABatchThatWasGivenForThePlanToJudge) {
  TrainOptions options;
  options.table.set("batch.global", "31");
  EXPECT_EQ(scaling_batch(Scaling::strong, counts, 2, batch(31, 31, 1), options).global, 31);
}

TEST(StrongScaling, LetsAPresetsSizesGoButNotGivenOnes) {
  TrainOptions options;
  options.table.set("batch.micro", "16", {.kind = ValueSource::Kind::preset, .where = "small"});
  options.table.set("batch.accumulation", "4",
                    {.kind = ValueSource::Kind::preset, .where = "small"});
  const ScalingBatch chosen = scaling_batch(Scaling::strong, counts, 4, batch(64, 16, 4), options);
  EXPECT_EQ(chosen.global, 64);
  EXPECT_EQ(chosen.micro, 0);
  options.table.set("batch.micro", "6");
  EXPECT_EQ(scaling_batch(Scaling::strong, counts, 4, batch(64, 6, 4), options).global, 72);
  options.table.set("batch.accumulation", "4");
  EXPECT_THROW(scaling_batch(Scaling::strong, counts, 4, batch(24, 6, 4), options), Error);
}

TEST(WeakScaling, GrowsTheBatchWithTheDevices) {
  const TrainOptions options;
  const ScalingBatch chosen = scaling_batch(Scaling::weak, counts, 4, batch(32, 16, 2), options);
  EXPECT_EQ(chosen.global, 128);
  EXPECT_EQ(chosen.micro, 16);
  EXPECT_EQ(chosen.accumulation, 2);
}

}  // namespace
}  // namespace lockstep
