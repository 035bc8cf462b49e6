// The micro-batch: what it follows from, what is refused with sizes that work, how it changes in a
// run.
#include "planning/batch/micro_batch.h"

#include "fakes/error_of.h"
#include "plan_fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BatchLimits : public ::testing::Test {
 protected:
  BatchLimits() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
  }
  void give(const char* key, std::int64_t value) { options.table.set(key, std::to_string(value)); }
  // "WHAT | HINT", or "" where nothing is refused.
  std::string refusal() const {
    const Plan plan = make_plan(options, facts, memory, devices, measured);
    try {
      check_new_batch(plan, options, has_data);
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "";
  }

  TrainOptions options;
  Facts facts = text_facts();  // 1000 training samples
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.1 * gib};
  MeasuredMemory measured;
  bool has_data = false;
  std::vector<Device> devices = gpus(2);
};

TEST_F(BatchLimits, RefusesABatchAboveTheDataAndNamesTheLargest) {
  give("batch.global", 1'000'000'000);
  EXPECT_EQ(refusal(),
            "global batch 1000000000 is more than the 1000 training samples that there are | set "
            "batch.global to at most 1000, or leave it out");
}

TEST_F(BatchLimits, SaysThatMemoryIsTight) {
  options.batch.global = 256;
  options.batch.micro = 128;
  memory.per_sample_bytes = 0.1 * gib;
  const auto is_tight = [&] {
    return has_note(make_plan(options, facts, memory, devices, measured),
                    "memory is tight: micro-batch 128 needs 98 % of what is available, by an "
                    "estimate; batch.micro=64 leaves more");
  };
  devices = gpus(2, 15.85);  // 14.1 GiB of which may be planned with; 13.8 are needed
  EXPECT_TRUE(is_tight());
  devices = gpus(2, 40);
  EXPECT_FALSE(is_tight());
}

TEST_F(BatchLimits, AllSamplesInAStepAreNoMistakeThoughRanksNeedPadding) {
  devices = gpus(3);
  give("batch.global", 1002);
  EXPECT_EQ(refusal(), "");
  give("batch.global", 1005);
  EXPECT_TRUE(contains(refusal(), "set batch.global to at most 1002"));
}

TEST_F(BatchLimits, TheLastStepOfAnEpochMayBePadded) {
  give("batch.global", 64);
  EXPECT_EQ(refusal(), "");
}

TEST_F(BatchLimits, ADefaultBatchAboveTheDataIsOnlyWarnedOf) {
  facts.train_samples = 3;
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(has_note(make_plan(options, facts, memory, devices),
                       "warning: there are only 3 training samples, fewer than the 64 of the "
                       "batch: every step sees all of them, and 61 padding rows of weight 0"));
}

TEST_F(BatchLimits, AnUnknownNumberOfSamplesLimitsNothing) {
  facts.train_samples = 0;
  give("batch.global", 1 << 20);
  EXPECT_EQ(refusal(), "");
}

TEST_F(BatchLimits, NamesTheOptionThatMadeTheBatchTooLarge) {
  memory.per_sample_bytes = 0;
  give("batch.micro", 800);
  EXPECT_TRUE(contains(refusal(), "global batch 1600 is more than the 1000"));
  EXPECT_TRUE(contains(refusal(), "set batch.micro to at most 500, or leave it out"));
  give("batch.accumulation", 3);
  EXPECT_TRUE(contains(refusal(),
                       "set batch.micro and batch.accumulation so that a step holds at "
                       "most 1000 samples"));
}

TEST_F(BatchLimits, OfAPresetsBatchAboveTheDataTheDataAreMissing) {
  memory.per_sample_bytes = 0;
  const ValueSource preset{.kind = ValueSource::Kind::preset, .where = "contest"};
  options.table.set("batch.global", "6400", preset);
  options.table.set("batch.micro", "1600", preset);
  EXPECT_EQ(refusal(),
            "global batch 6400 is more than the 1000 training samples that there are | preset "
            "contest sets this batch, for more data: name yours, as with data.path=…, or set "
            "batch.global=1000 batch.micro=0");
  has_data = true;
  EXPECT_TRUE(contains(refusal(), "for more data than yours: set batch.global=1000 batch.micro=0"));
  give("batch.micro", 3200);
  EXPECT_TRUE(contains(refusal(), "set batch.micro to at most 500"));
}

// A GPU of 16 GiB leaves 14.22 GiB: 132 samples of 0.1 GiB beside 1 GiB.
TEST_F(BatchLimits, RefusesAMicroBatchFarAboveTheMemoryAndNamesOneThatFits) {
  facts.train_samples = 1'000'000;
  give("batch.micro", 100'000);
  EXPECT_EQ(refusal(),
            "micro-batch 100000 needs about 9.77 TiB by estimate, 625 times the 16 GiB of "
            "cuda:0 | set batch.micro to 132 or less, or leave out batch.micro");
  give("batch.global", 200'000);
  EXPECT_TRUE(contains(refusal(), "set batch.micro to 125 or less"));  // divides 100000
}

TEST_F(BatchLimits, TheMicroBatchThatIsNamedIsNotAboveTheData) {
  facts.train_samples = 100;
  give("batch.micro", 100'000);
  EXPECT_TRUE(contains(refusal(), "set batch.micro to 50 or less"));
}

TEST_F(BatchLimits, AnEstimateMayBeWrongByAFactorOfThree) {
  facts.train_samples = 1'000'000;
  give("batch.micro", 400);  // 41 GiB
  EXPECT_EQ(refusal(), "");
  measured = {.micro = 10, .peak_bytes = 2 * gib};  // a measured peak is not
  EXPECT_TRUE(contains(refusal(), "as measured"));
}

TEST_F(BatchLimits, WhereNotOneSampleFitsSaysWhatWouldHelp) {
  memory.per_sample_bytes = 100 * gib;
  EXPECT_TRUE(contains(refusal(), "micro-batch 1 needs about 101 GiB"));
  EXPECT_TRUE(contains(refusal(), "a smaller model"));
  facts.smaller_sample = "a smaller episode";
  EXPECT_TRUE(contains(refusal(), "a smaller episode; "));
  memory.per_sample_bytes = 30 * gib;  // an estimate may be wrong by so much
  EXPECT_TRUE(has_note(make_plan(options, facts, memory, devices),
                       "choose a smaller episode, or a smaller model"));
}

TEST_F(BatchLimits, RanksBeyondTheCoresAreWarnedOf) {
  devices = cpu_ranks(8);
  for (Device& device : devices) device.host_cores = 2;
  EXPECT_TRUE(has_note(make_plan(options, facts, memory, devices),
                       "warning: 8 CPU ranks share 2 cores and only take turns: --devices cpu:2"));
  for (Device& device : devices) device.host_cores = 8;
  EXPECT_FALSE(has_note(make_plan(options, facts, memory, devices), "take turns"));
  for (Device& device : devices) device.host_cores = 0;  // unknown
  EXPECT_FALSE(has_note(make_plan(options, facts, memory, devices), "take turns"));
}

// Of 16 GiB, 14.22 are available; 0.1 GiB a sample by the formula, of 8192 samples a rank.
class MicroBatchChoice : public BatchLimits {
 protected:
  MicroBatchChoice() { give("batch.global", 16384); }
  MicroBatch choose() const {
    return choose_micro_batch(options, facts, memory, devices, measured);
  }
};

TEST_F(MicroBatchChoice, IsTheLargestDivisorThatFitsByTheFormula) {
  EXPECT_EQ(choose().limit, 132);
  EXPECT_EQ(choose().batch.micro, 128);
  EXPECT_EQ(choose().batch.accumulation, 64);
}

TEST_F(MicroBatchChoice, FollowsFromAMeasuredPeakWhereThereIsOne) {
  measured = {.micro = 32, .peak_bytes = 7.4 * gib};  // 0.2 GiB a sample
  EXPECT_EQ(choose().limit, 66);
  EXPECT_EQ(choose().batch.micro, 64);
  EXPECT_TRUE(choose().memory.measured);
  EXPECT_NEAR(choose().needed_bytes, (1 + 64 * 0.2) * gib, 1e-3 * gib);
  measured.peak_bytes = 0.5 * gib;  // less than what is fixed: it says nothing
  EXPECT_EQ(choose().batch.micro, 128);
  EXPECT_FALSE(choose().memory.measured);
}

TEST_F(MicroBatchChoice, WithAutoIsWhatWasTriedOutWhateverTheEstimateSays) {
  give("batch.micro", micro_auto);
  EXPECT_EQ(choose().batch.micro, 128);
  const Plan plan = make_plan(options, facts, memory, devices, measured);
  EXPECT_TRUE(has_note(plan, "not tried out yet on these devices"));
  facts.preferred_micro = 4;
  measured = {.micro = 512, .peak_bytes = 14 * gib, .shrunk_to = 2};
  EXPECT_EQ(choose().batch.micro, 512);
  EXPECT_EQ(choose().memory.tried_micro, 512);
  EXPECT_NEAR(choose().needed_bytes, 14 * gib, 1);
  EXPECT_TRUE(has_note(make_plan(options, facts, memory, devices, measured),
                       "and 512 is the largest that leaves 8 % and 512 MiB free"));
}

TEST_F(MicroBatchChoice, IsNotAboveWhatTheRunShrankTo) {
  measured.shrunk_to = 16;
  EXPECT_EQ(choose().batch.micro, 16);
  facts.preferred_micro = 8;
  EXPECT_EQ(choose().batch.micro, 8);
  facts.preferred_micro = 32;
  EXPECT_EQ(choose().batch.micro, 16);
  EXPECT_FALSE(has_note(make_plan(options, facts, memory, devices, measured), "would fit"));
  give("batch.micro", 64);  // what is given stands
  EXPECT_EQ(choose().batch.micro, 64);
}

TEST_F(MicroBatchChoice, IsTheGrainOfExactSumsWithinTheSameLimits) {
  options.exact = true;
  measured.shrunk_to = 16;
  EXPECT_EQ(choose().batch.micro, 16);
  ASSERT_TRUE(choose().exact);
  EXPECT_EQ(choose().exact->leaf_samples, 16);
  EXPECT_DOUBLE_EQ(choose().memory.fixed_bytes,
                   gib + 4e6 * static_cast<double>(choose().exact->buffers));
}

TEST_F(MicroBatchChoice, RefusesChangesThatDoNotDivideTheShare) {
  options.batch.micro_changes = "1:3";
  EXPECT_EQ(error_of([&] { choose(); }),
            "batch.micro_changes: micro-batch 3 does not divide the 8192 samples of a rank | write "
            "a divisor of 8192");
  options.batch.micro_changes = "1:4";
  EXPECT_NO_THROW(choose());
}

TEST(MicroChanges, AreParsedAsRecorded) {
  EXPECT_THAT(parse_micro_changes(""), IsEmpty());
  EXPECT_THAT(parse_micro_changes("0:8,300:4"), ElementsAre(MicroChange{.step = 0, .micro = 8},
                                                            MicroChange{.step = 300, .micro = 4}));
}

TEST(MicroChanges, RefuseWhatIsNoSchedule) {
  for (const char* text : {"8", "1:2:3", "a:4", "4:a", "4:0", "-1:4", "4:4,", ":", "4: 4"})
    EXPECT_THROW(parse_micro_changes(text), Error) << text;
  EXPECT_THROW(parse_micro_changes("9:4,9:2"), Error);
}

TEST(MicroBatch, ShrinksToTheNextDivisorOfTheShare) {
  BatchPlan batch{.world_size = 2, .micro = 12, .accumulation = 1, .global = 24};
  std::vector<std::int64_t> sizes;
  while (const std::int64_t next = next_smaller_micro(batch)) {
    batch = with_micro(batch, next);
    EXPECT_EQ(batch.world_size * batch.micro * batch.accumulation, 24);
    sizes.push_back(next);
  }
  EXPECT_THAT(sizes, ElementsAre(6, 4, 3, 2, 1));
}

TEST(MicroBatch, ShrinksThroughAllSizesOfSamplesWithSeveralRows) {
  BatchPlan batch = solve_batch(2, 2, 0, 0, 0, 100, "GPU", 7);
  std::vector<std::int64_t> sizes;
  while (const std::int64_t next = next_smaller_micro(batch)) {
    batch = with_micro(batch, next);
    EXPECT_GE(batch.places(), 14);
    EXPECT_EQ(batch.global, 2);
    sizes.push_back(next);
  }
  EXPECT_THAT(sizes, ElementsAre(4, 3, 2, 1));
}

// Of a recipe whose model stands on 4 samples at once.
class FixedMicro : public BatchLimits {
 protected:
  FixedMicro() { facts.fixed_micro = 4; }
  Plan plan() const { return make_plan(options, facts, memory, devices, measured); }
};

TEST_F(FixedMicro, IsTakenWhateverFits) {
  for (const double per_sample : {0.001 * gib, 100 * gib}) {
    memory.per_sample_bytes = per_sample;
    EXPECT_EQ(plan().batch.micro, 4);
    EXPECT_EQ(plan().batch.accumulation, 8);
    EXPECT_TRUE(has_note(plan(), "stands on a micro-batch of 4"));
  }
  options.batch.micro = micro_auto;
  measured.micro = 16;
  EXPECT_EQ(plan().batch.micro, 4);
  options.batch.micro = 4;
  EXPECT_EQ(plan().batch.micro, 4);
  options.exact = true;
  EXPECT_EQ(plan().exact->leaf_samples, 4);
}

// It normalises by the same rows on any number of devices.
TEST_F(FixedMicro, LeavesOnlyRunningStatisticsToTheNumberOfDevices) {
  facts.batch_norm = true;
  EXPECT_TRUE(has_note(plan(),
                       "batch norm normalises by each micro-batch of 4 alone, on any number "
                       "of devices; only evaluation depends on their number: the running "
                       "statistics of rank 0 are kept"));
  facts.fixed_micro = 0;
  EXPECT_TRUE(has_note(plan(), "alone, so results depend on their number"));
}

TEST_F(FixedMicro, RefusesAnotherByName) {
  options.batch.micro = 8;
  EXPECT_EQ(
      error_of([&] { plan(); }),
      "batch.micro must be 4, but is 8: the recipe's model stands on a micro-batch of 4 | leave "
      "out batch.micro");
  options.batch.micro = 0;
  options.batch.micro_changes = "10:2";
  EXPECT_TRUE(
      contains(error_of([&] { plan(); }), "batch.micro_changes asks for micro-batch 2, but"));
  options.batch.micro_changes = "";
  give("batch.global", 12);
  EXPECT_TRUE(
      contains(error_of([&] { plan(); }), "2 GPUs x micro-batch 4 (needs a multiple of 8)"));
}

TEST_F(FixedMicro, SaysOnHowManyDevicesRowsOfStatisticsFitIt) {
  options.norm.statistics = NormStatistics::sync;
  options.norm.rows = 12;
  EXPECT_EQ(error_of([&] { plan(); }),
            "norm.rows 12 asks for micro-batch 6, but the recipe's model stands on one of 4 | "
            "use 3 GPUs, or begin a new run without norm.rows");
  options.norm.rows = 10;
  EXPECT_TRUE(contains(error_of([&] { plan(); }), " of 4 | begin a new run without norm.rows"));
}

TEST_F(FixedMicro, DoesNotShrinkWhenMemoryRunsOut) {
  EXPECT_EQ(next_smaller_micro(plan().batch), 0);
  facts.fixed_micro = 0;
  EXPECT_GT(next_smaller_micro(plan().batch), 0);
}

TEST_F(BatchLimits, OfSamplesWithSeveralRowsSayWhoComputesPaddingOnly) {
  facts.rows_per_sample = 6;
  give("batch.global", 1);
  devices = gpus(4);
  const Plan plan = make_plan(options, facts, memory, devices, measured);
  EXPECT_EQ(plan.batch.micro, 2);
  EXPECT_TRUE(has_note(plan,
                       "the 6 rows of a step leave 2 places to padding of weight 0, which "
                       "changes no result: rank 3 (cuda:3) computes nothing else"));
  EXPECT_TRUE(contains(to_text(plan, false, 200),
                       "1 x 6 rows, on 4 GPUs x micro-batch 2 x accumulation 1 = 8 places"));
  EXPECT_DOUBLE_EQ(plan.units_per_step, 512);  // of samples, not of rows
  facts.rows_per_sample = 1;
  EXPECT_TRUE(has_note(make_plan(options, facts, memory, devices, measured),
                       "the 1 row of a step leaves 3 places to padding"));
  facts.rows_per_sample = 6;
  EXPECT_EQ(plan.steps_per_epoch, 1000);
  options.batch.micro = 64;
  EXPECT_TRUE(contains(error_of([&] { make_plan(options, facts, memory, devices, measured); }),
                       "batch.micro must be at most 2, as many rows as a rank has of the 6 of a "
                       "step, but is 64"));
  options.batch.micro = 0;
  options.exact = true;
  EXPECT_TRUE(
      contains(error_of([&] { make_plan(options, facts, memory, devices, measured); }),
               "exact = true shares out the 6 rows of a step evenly, but they do not divide "
               "into 4 GPUs"));
  devices = gpus(3);
  EXPECT_EQ(make_plan(options, facts, memory, devices, measured).exact->leaves, 3);
}

TEST_F(BatchLimits, OfFewerSamplesThanRanksSayWhoComputesPaddingOnly) {
  give("batch.global", 1);
  devices = gpus(4);
  const Plan plan = make_plan(options, facts, memory, devices, measured);
  EXPECT_EQ(plan.batch.global, 1);
  EXPECT_TRUE(has_note(plan, "ranks 1 to 3 compute nothing else"));
  EXPECT_EQ(refusal(), "");
}

TEST_F(BatchLimits, AnEpochMayBeOfAnotherSizeThanTheData) {
  facts.epoch_size = 2000;
  give("batch.global", 1500);
  devices = gpus(1);
  EXPECT_EQ(refusal(), "");
  const Plan plan = make_plan(options, facts, memory, devices, measured);
  EXPECT_EQ(plan.steps_per_epoch, 2);
  EXPECT_TRUE(has_note(plan, "an epoch is 2000 samples"));
  options.data.drop_last = true;
  EXPECT_EQ(make_plan(options, facts, memory, devices, measured).steps_per_epoch, 1);
  facts.epoch_size = 100;
  EXPECT_TRUE(contains(error_of([&] { make_plan(options, facts, memory, devices, measured); }),
                       "data.drop_last = true leaves nothing: an epoch has 100 samples, and a step "
                       "takes 1500"));
}

}  // namespace
}  // namespace lockstep
