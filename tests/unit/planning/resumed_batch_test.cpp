// The batch of a run that goes on: what it keeps on the same and on other devices, and what it
// says.
#include "planning/batch/resumed_batch.h"

#include "plan_fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResumedBatch : public ::testing::Test {
 protected:
  ResumedBatch() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
    options.table.set("batch.global", "64");
  }
  // The plan of a start with these sizes, as the record holds it.
  void begin(std::vector<Device> devices, BatchSizes sizes) {
    sizes.global = 64;
    recorded = options.batch = sizes;
    last = make_plan(options, facts, memory, devices);
    micro = micro_then = last.batch.micro;
    // As `resume` leaves them where nobody repeats any.
    options.batch = {.global = 64, .micro = std::min<std::int64_t>(sizes.micro, 0)};
  }
  Plan go_on(const std::vector<Device>& devices) {
    const KeptBatch kept = batch_to_keep(recorded,
                                         {.plan = last,
                                          .micro = micro,
                                          .shrunk_to = shrunk_to,
                                          .step = step,
                                          .micro_then = micro_then,
                                          .then_since = since},
                                         options, facts, devices);
    options.batch = kept.sizes;
    return make_plan(options, facts, memory, devices, {.shrunk_to = shrunk_to, .kept = kept.micro});
  }
  std::vector<std::string> notes(const Plan& now) const {
    return notes_on_kept_batch(recorded, last, now);
  }

  TrainOptions options;
  Facts facts = text_facts();
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.01 * gib};
  BatchSizes recorded;
  Plan last;
  std::int64_t micro = 0, shrunk_to = 0, step = 0, micro_then = 0, since = 0;
};

TEST_F(ResumedBatch, KeepsTheSizesThatWereSetOnTheSameDevices) {
  begin(cpu_ranks(2), {.micro = 2});
  Plan now = go_on(cpu_ranks(2));
  EXPECT_EQ(now.batch.micro, 2);
  EXPECT_EQ(now.batch.accumulation, 16);
  EXPECT_EQ(options.batch.micro, 2);
  EXPECT_THAT(notes(now), IsEmpty());
  begin(gpus(2), {.micro = 16, .accumulation = 2, .micro_changes = "9:8"});
  now = go_on(gpus(2));
  EXPECT_EQ(now.batch.micro, 16);
  EXPECT_EQ(now.batch.accumulation, 2);
  EXPECT_EQ(options.batch.accumulation, 2);
  EXPECT_EQ(options.batch.micro_changes, "9:8");
}

TEST_F(ResumedBatch, KeepsWhatWasChosenThoughMoreWouldFit) {
  memory.per_sample_bytes = 0.5 * gib;
  begin(gpus(2), {});
  EXPECT_EQ(last.batch.micro, 16);
  memory.per_sample_bytes = 0.01 * gib;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 16);
  EXPECT_EQ(options.batch.micro, 0);  // nobody set it
  begin(gpus(2), {.accumulation = 4});
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 8);
}

TEST_F(ResumedBatch, KeepsWhatMemoryLeftOfIt) {
  begin(gpus(2), {.micro = 32});
  micro = 8;
  shrunk_to = 8;
  const Plan now = go_on(gpus(2));
  EXPECT_EQ(now.batch.micro, 8);
  EXPECT_EQ(now.batch.accumulation, 4);
  EXPECT_EQ(options.batch.micro, 32);  // the record still says what was asked for
  EXPECT_THAT(notes(now), IsEmpty());
}

TEST_F(ResumedBatch, ASizeThatIsTypedAgainStandsThoughMemoryRanOutWithIt) {
  for (const int devices : {2, 1}) {
    begin(gpus(2), {.micro = 32});
    micro = shrunk_to = 8;
    options.batch.micro = 32;
    const Plan now = go_on(gpus(devices));
    EXPECT_EQ(now.batch.micro, 32) << devices;
    EXPECT_THAT(notes(now), IsEmpty()) << devices;
  }
  begin(gpus(2), {.accumulation = 4});
  micro = shrunk_to = 4;
  options.batch.accumulation = 4;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 8);
}

TEST_F(ResumedBatch, BeginsWithTheMicroBatchInForceAtItsCheckpoint) {
  begin(gpus(2), {.micro = 16, .micro_changes = "6:8"});
  micro = 8;  // it went further than its checkpoint
  step = 5;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 16);
  EXPECT_EQ(options.batch.micro_changes, "6:8");
}

TEST_F(ResumedBatch, AChangeThatCameWithTheEndOfTheLastStartIsDue) {
  begin(gpus(2), {.micro = 16, .micro_changes = "6:8,9:2"});
  step = 6;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 8);
}

TEST_F(ResumedBatch, ChangesKeepToWhatMemoryLeft) {
  begin(gpus(2), {.micro = 16, .micro_changes = "2:8,20:16,30:2"});
  micro = micro_then = shrunk_to = 4;
  since = 8;
  step = 10;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 4);
  EXPECT_EQ(options.batch.micro_changes, "2:8,20:4,30:2");
  since = 0;
  begin(gpus(2), {.micro = 16, .micro_changes = "2:8"});
  micro = 4;  // memory ran out after the checkpoint
  step = 1;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 4);
  EXPECT_EQ(options.batch.micro_changes, "2:4");
}

TEST_F(ResumedBatch, WhatIsTypedStandsBesideChanges) {
  begin(gpus(2), {.micro = 16, .micro_changes = "2:8,20:8"});
  micro = micro_then = shrunk_to = 4;
  step = 10;
  options.batch.micro = 16;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 16);
  EXPECT_EQ(options.batch.micro_changes, "2:8,20:8");
  begin(gpus(2), {.micro = 16, .micro_changes = "20:8"});
  micro = micro_then = 4;
  options.batch.micro_changes = "20:8";
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 4);
  EXPECT_EQ(options.batch.micro_changes, "20:8");
}

TEST_F(ResumedBatch, KnowsWhichChangeIsDue) {
  EXPECT_EQ(micro_due("", 9), 0);
  EXPECT_EQ(micro_due("2:8,20:16", 1), 0);
  EXPECT_EQ(micro_due("2:8,20:16", 2), 8);
  EXPECT_EQ(micro_due("2:8,20:16", 19), 8);
  EXPECT_EQ(micro_due("2:8,20:16", 20), 16);
}

TEST_F(ResumedBatch, IsChosenAnewWithinWhatMemoryLeft) {
  begin(gpus(2), {.micro = 32});
  options.batch.micro = 0;  // typed: nothing is kept
  EXPECT_EQ(make_plan(options, facts, memory, gpus(2), {.shrunk_to = 8}).batch.micro, 8);
}

TEST_F(ResumedBatch, KeepsWhatWasTriedOut) {
  begin(gpus(2), {.micro = micro_auto});
  micro = 4;
  const Plan now = go_on(gpus(2));
  EXPECT_EQ(now.batch.micro, 4);
  EXPECT_EQ(options.batch.micro, micro_auto);
  EXPECT_TRUE(has_note(now, "batch.micro = auto: the run keeps the micro-batch"));
}

TEST_F(ResumedBatch, IsChosenAgainOnOtherDevicesAndSaysSo) {
  begin(gpus(2), {.accumulation = 4, .micro_changes = "9:4"});
  const Plan now = go_on(gpus(4));
  EXPECT_EQ(now.batch.micro, 16);
  EXPECT_EQ(options.batch.accumulation, 0);
  EXPECT_THAT(
      notes(now),
      ElementsAre("the run's micro-batch of 8 is not kept: it was for 2 x Tesla T4, and now "
                  "it is 16",
                  "the run's batch.accumulation=4 is not kept: it was for 2 x Tesla T4, and "
                  "now it is 1",
                  "the run's batch.micro_changes=9:4 is not kept: it was for 2 x Tesla T4"));
  begin(cpu_ranks(2), {});
  EXPECT_THAT(
      notes(go_on(cpu_ranks(1))),
      ElementsAre("the run's micro-batch of 32 is not kept: it was for 2 CPU ranks, and now "
                  "it is 64"));
  std::vector<Device> larger = gpus(2, 80);
  for (Device& device : larger) device.name = "NVIDIA A100";
  begin(gpus(2), {.micro = micro_auto});
  micro = 4;
  EXPECT_EQ(go_on(larger).batch.micro, 32);
  EXPECT_EQ(options.batch.micro, micro_auto);
}

TEST_F(ResumedBatch, AMicroBatchThatWasSetIsKeptOnOtherDevicesWhereItDivides) {
  begin(cpu_ranks(2), {.micro = 16, .accumulation = 2});
  Plan now = go_on(cpu_ranks(1));
  EXPECT_EQ(now.batch.micro, 16);
  EXPECT_EQ(now.batch.accumulation, 4);
  EXPECT_EQ(options.batch.micro, 16);
  begin(cpu_ranks(2), {.micro = 16});
  EXPECT_THAT(notes(go_on(cpu_ranks(4))), IsEmpty());
  begin(cpu_ranks(2), {.micro = 16});
  now = go_on(cpu_ranks(8));
  EXPECT_EQ(options.batch.micro, 0);
  EXPECT_THAT(
      notes(now),
      ElementsAre("the run's batch.micro=16 is not kept: it does not divide the 8 samples of "
                  "a CPU rank, and now it is 8"));
}

TEST_F(ResumedBatch, FewerDevicesOfAKindWhoseMemoryRanOutGetTheSmallerOne) {
  begin(gpus(2), {.micro = 32});
  micro = 8;
  shrunk_to = 8;
  const Plan now = go_on(gpus(1));
  EXPECT_EQ(now.batch.micro, 8);
  EXPECT_THAT(notes(now), ElementsAre("the run's batch.micro=32 is not kept: memory ran out with "
                                      "it, and now it is 8"));
}

TEST_F(ResumedBatch, SizesThatAreRepeatedHoldOnOtherDevices) {
  begin(gpus(2), {.micro = 8, .accumulation = 4});
  options.batch.accumulation = 4;
  EXPECT_EQ(go_on(gpus(1)).batch.micro, 16);
  EXPECT_EQ(options.batch.accumulation, 4);
}

TEST_F(ResumedBatch, RowsOfStatisticsDecide) {
  options.norm.statistics = NormStatistics::sync;
  facts.batch_norm = true;
  begin(gpus(2), {.micro = 8});
  options.norm.rows = last.batch.norm_rows;
  EXPECT_EQ(last.batch.norm_rows, 16);
  const Plan now = go_on(gpus(4));
  EXPECT_EQ(now.batch.micro, 4);
  EXPECT_THAT(
      notes(now),
      ElementsAre("the run's batch.micro=8 is not kept: norm.rows = 16 is shared out over 4 "
                  "x Tesla T4, and now it is 4"));
  options.norm.rows = 16;
  EXPECT_EQ(go_on(gpus(2)).batch.micro, 8);
}

TEST_F(ResumedBatch, WhatDoesNotFitAnyMoreIsOpenedByASetting) {
  begin(gpus(2), {});
  memory.per_sample_bytes = gib;
  EXPECT_TRUE(has_note(go_on(gpus(2)), "set batch.micro=0, with which it is chosen again"));
}

}  // namespace
}  // namespace lockstep
