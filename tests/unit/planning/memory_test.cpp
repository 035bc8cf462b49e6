// What a rank needs: the fixed part, the activations, and what exists for a moment.
#include "planning/memory/memory.h"

#include "plan_fixtures.h"
#include "planning/run_setup.h"

#include <gtest/gtest.h>

#include <utility>

namespace lockstep {
namespace {

// 1 GiB and 0.1 a sample, of which 10 blocks keep 0.08; the loss 0.05 in pieces of 1 GiB.
const MemoryEstimate model{.fixed_bytes = gib,
                           .per_sample_bytes = 0.1 * gib,
                           .blocks = 10,
                           .block_bytes = 0.008 * gib,
                           .recomputed_block_bytes = 0.001 * gib,
                           .loss_bytes = 0.05 * gib,
                           .loss_piece_bytes = gib,
                           .backward_bytes = 0.01 * gib};

TEST(NeededMemory, HasTheLossInEqualPieces) {
  EXPECT_NEAR(needed_bytes(model, 10), (1 + 1 + 0.5) * gib, 1);
  EXPECT_NEAR(needed_bytes(model, 20), (1 + 2 + 1) * gib, 1);
  EXPECT_NEAR(needed_bytes(model, 30), (1 + 3 + 0.75) * gib, 1);  // 1.5 GiB in two pieces
}

TEST(NeededMemory, HasBackwardWhereThatIsMore) {
  EXPECT_NEAR(needed_bytes(model, 200), (1 + 20 + 2) * gib, 1);
}

TEST(NeededMemory, LosesWhatIsComputedAgainButForOneBlockAtATime) {
  EXPECT_NEAR(needed_bytes(model, 10, 4), (1 + 1 - 4 * 0.07 + 0.5) * gib, 1);
  // All: in backward one of them is there whole, which is less than the loss here.
  EXPECT_NEAR(needed_bytes(model, 10, 10), (1 + 1 - 10 * 0.07 + 0.5) * gib, 1);
  MemoryEstimate without_loss = model;
  without_loss.loss_bytes = without_loss.backward_bytes = 0;
  EXPECT_NEAR(needed_bytes(without_loss, 10, 10), (1 + 1 - 9 * 0.07) * gib, 1);
}

TEST(NeededMemory, LimitsTheMicroBatchToWhatFits) {
  for (const double memory_gib : {3.0, 6.0, 16.0, 40.0, 80.0}) {
    const std::vector<Device> devices = gpus(1, memory_gib);
    const double available = tightest_device(devices)->available_bytes;
    const std::int64_t micro = largest_micro(model, devices);
    EXPECT_LE(needed_bytes(model, micro), available) << memory_gib;
    // A piece of the loss may be up to half a GiB smaller than it could be.
    EXPECT_GT(needed_bytes(model, micro + 1), available - 0.7 * gib) << memory_gib;
  }
}

// 3 large ones of 4: micro-batches of 2 and 10 count as 2 + 2 * 4 and 10 + 3 * 4.
TEST(NeededMemory, HasTheLargestSamplesBesideThoseOfMeanSize) {
  MemoryEstimate memory = model;
  memory.large_samples = 3;
  memory.large_size = 4;
  for (const auto& [micro, same] : {std::pair{2, 10}, std::pair{3, 15}, std::pair{10, 22}}) {
    EXPECT_NEAR(needed_bytes(memory, micro), needed_bytes(model, same), 1) << micro;
    EXPECT_NEAR(needed_bytes(memory, micro, 10), needed_bytes(model, same, 10), 1) << micro;
  }
  for (const double memory_gib : {2.5, 3.5, 5.0, 16.0}) {
    const std::vector<Device> devices = gpus(1, memory_gib);
    const double available = tightest_device(devices)->available_bytes;
    const std::int64_t micro = largest_micro(memory, devices);
    EXPECT_TRUE(micro == 1 || needed_bytes(memory, micro) <= available) << memory_gib;
    EXPECT_GT(needed_bytes(memory, micro + 1), available - 0.7 * gib) << memory_gib;
  }
  ASSERT_TRUE(take_peak(memory, 10, 5 * gib));
  EXPECT_NEAR(needed_bytes(memory, 10), 5 * gib, 1);
}

TEST(NeededMemory, IsThatOfAnEvaluationWhereThatIsMore) {
  MemoryEstimate memory = model;
  memory.evaluation_bytes = 2 * gib;
  EXPECT_NEAR(needed_bytes(memory, 10), (1 + 2) * gib, 1);
  EXPECT_NEAR(needed_bytes(memory, 20), (1 + 2 + 1) * gib, 1);
  ASSERT_TRUE(take_peak(memory, 10, 2.5 * gib));
  EXPECT_NEAR(memory.per_sample_bytes, 0.1 * gib, 1);
}

TEST(NeededMemory, IsThatOfTheRecordToo) {
  MemoryEstimate memory = model;
  memory.large_samples = 3;
  memory.large_size = 4.5;
  EXPECT_EQ(needed_bytes(memory_from_json(to_json(memory)), 10), needed_bytes(memory, 10));
  memory.evaluation_bytes = 100 * gib;
  EXPECT_EQ(needed_bytes(memory_from_json(to_json(memory)), 10), needed_bytes(memory, 10));
  nlohmann::json earlier = to_json(model);
  for (const char* later : {"large_samples", "large_size", "evaluation_bytes"})
    earlier.erase(later);
  EXPECT_EQ(needed_bytes(memory_from_json(earlier), 10), needed_bytes(model, 10));
}

TEST(MeasuredPeak, ReplacesWhatASampleKeepsAndNothingElse) {
  MemoryEstimate memory = model;
  ASSERT_TRUE(take_peak(memory, 10, 3 * gib));
  EXPECT_NEAR(needed_bytes(memory, 10), 3 * gib, 1);
  EXPECT_NEAR(memory.per_sample_bytes, 0.15 * gib, 1);
  EXPECT_FALSE(take_peak(memory, 10, 1.2 * gib));  // less than what is fixed
  EXPECT_FALSE(take_peak(memory, 0, 3 * gib));
}

}  // namespace
}  // namespace lockstep
