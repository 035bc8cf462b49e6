// Which of the three sizes of a batch count where a preset and the user set them.
#include "planning/options/batch_options.h"

#include "fakes/error_of.h"
#include "plan_fixtures.h"
#include "planning/batch/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class BatchOptions : public ::testing::Test {
 protected:
  BatchOptions() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
  }
  void preset(const char* key, const char* value) {
    options.table.set(key, value, {.kind = ValueSource::Kind::preset, .where = "contest"});
  }
  void give(const char* key, const char* value,
            ValueSource::Kind kind = ValueSource::Kind::argument) {
    options.table.set(key, value, {.kind = kind, .where = "my.toml, line 3"});
  }
  // "global = ranks x micro x accumulation" of the plan on two GPUs.
  std::string planned(int devices = 2) {
    prefer_given_batch(options, devices);
    const BatchPlan batch = make_plan(options, text_facts(), memory, gpus(devices)).batch;
    return std::to_string(batch.global) + " = " + std::to_string(devices) + " x " +
           std::to_string(batch.micro) + " x " + std::to_string(batch.accumulation);
  }

  TrainOptions options;
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.1 * gib};
};

TEST_F(BatchOptions, AGivenMicroBatchOverridesThePresetsAccumulation) {
  preset("batch.global", "64");
  preset("batch.accumulation", "4");
  give("batch.micro", "16");
  EXPECT_EQ(planned(), "64 = 2 x 16 x 2");
}

TEST_F(BatchOptions, AGivenBatchOverridesBothOthersOfThePreset) {
  preset("batch.global", "64");
  preset("batch.micro", "16");
  preset("batch.accumulation", "2");
  give("batch.global", "24");
  EXPECT_EQ(planned(), "24 = 2 x 12 x 1");
}

TEST_F(BatchOptions, AGivenAccumulationOverridesThePresetsMicroBatch) {
  preset("batch.global", "64");
  preset("batch.micro", "16");
  give("batch.accumulation", "4");
  EXPECT_EQ(planned(), "64 = 2 x 8 x 4");
}

TEST_F(BatchOptions, ThePresetsBatchStaysOnEachNumberOfDevicesThatDividesIt) {
  const auto on = [&](int devices) {
    preset("batch.global", "64");
    preset("batch.micro", "16");
    return planned(devices);
  };
  EXPECT_EQ(on(1), "64 = 1 x 16 x 4");
  EXPECT_EQ(on(4), "64 = 4 x 16 x 1");
  EXPECT_EQ(on(8), "64 = 8 x 8 x 1");
  EXPECT_EQ(on(16), "64 = 16 x 4 x 1");
  EXPECT_EQ(on(3), "48 = 3 x 16 x 1") << "64 is not divided by 3";
}

TEST_F(BatchOptions, SaysOnWhichNumbersOfDevicesTheBatchStays) {
  const auto note = [&](const std::string& text) {
    return has_note(make_plan(options, text_facts(), memory, gpus(2)), text);
  };
  preset("batch.global", "64");
  preset("batch.micro", "16");
  EXPECT_TRUE(note("stays 64 on any number of devices that divides it: more or fewer"));
  options.exact = true;
  EXPECT_TRUE(note("stays 64 on any number of devices that divides 4 (in micro-batches of 16)"));
  options.exact = false;
  give("batch.micro", "16");
  EXPECT_TRUE(
      note("stays 64 on any number of devices that divides 4 (in micro-batches of 16): "
           "more or fewer of them change the accumulation, never"));
  give("batch.micro", "0");
  give("batch.accumulation", "4");
  EXPECT_TRUE(
      note("that divides 16 (with accumulation 4): more or fewer of them change the "
           "micro-batch, never"));
}

TEST_F(BatchOptions, TwoGivenSizesOverrideThePresetsBatch) {
  preset("batch.global", "64");
  give("batch.micro", "16");
  give("batch.accumulation", "4");
  EXPECT_EQ(planned(), "128 = 2 x 16 x 4");
  give("batch.micro", "auto");  // no size: the preset's batch was replaced, and the default counts
  EXPECT_EQ(planned(), "64 = 2 x 8 x 4");
}

TEST_F(BatchOptions, ThePresetsSizesOfEachDeviceStayAsTheyAre) {
  preset("batch.micro", "16");
  preset("batch.accumulation", "4");
  give("batch.micro", "8");
  EXPECT_EQ(planned(), "64 = 2 x 8 x 4");
  give("batch.global", "0");
  EXPECT_EQ(planned(), "64 = 2 x 8 x 4");
}

TEST_F(BatchOptions, AnErrorNamesWhereASizeComesFromThatWasNotTyped) {
  give("batch.accumulation", "4", ValueSource::Kind::file);
  give("batch.global", "32");
  give("batch.micro", "16");
  EXPECT_THAT(error_of([&] { planned(); }),
              HasSubstr("global batch 32 is not 2 GPUs x micro-batch 16 x accumulation 4 = 128 "
                        "(batch.accumulation=4 from my.toml, line 3)"));
  preset("batch.accumulation", "4");
  EXPECT_EQ(batch_sources(options), "batch.accumulation=4 from preset contest");
  EXPECT_EQ(planned(), "32 = 2 x 16 x 1");
  EXPECT_EQ(batch_sources(options), "");
}

TEST_F(BatchOptions, ThePlanSaysThatAnAccumulationIsNotNeeded) {
  preset("batch.accumulation", "4");
  const auto plan = [&] { return make_plan(options, text_facts(), memory, gpus(2)); };
  EXPECT_TRUE(
      has_note(plan(),
               "all 32 samples of a GPU would fit at once, but batch.accumulation = 4 "
               "takes them in micro-batches of 8 (batch.accumulation=4 from preset contest)"));
  memory.per_sample_bytes = gib;
  EXPECT_FALSE(has_note(plan(), "would fit at once"));
  memory.per_sample_bytes = 0.1 * gib;
  give("batch.accumulation", "1");
  EXPECT_FALSE(has_note(plan(), "would fit at once"));
}

TEST_F(BatchOptions, AMicroBatchCountsRowsWhereASampleHasSeveral) {
  Facts facts = text_facts();
  facts.rows_per_sample = 7;
  give("batch.global", "4");
  give("batch.accumulation", "4");
  const Plan plan = make_plan(options, facts, memory, gpus(2));
  EXPECT_TRUE(has_note(plan,
                       "all 14 rows of a GPU would fit at once, but batch.accumulation = 4 takes "
                       "them in micro-batches of 4"));
  EXPECT_THAT(memory_help(plan, options, 7), HasSubstr("by estimate 7 rows at once need "));
  EXPECT_THAT(memory_help(plan, options, 1), HasSubstr("by estimate 1 row at once needs "));
}

TEST_F(BatchOptions, TheLargestMicroBatchForTheDataIsInRows) {
  Facts facts = text_facts();
  facts.train_samples = 10;
  facts.rows_per_sample = 7;
  memory.per_sample_bytes = 0;
  give("batch.global", "16");
  give("batch.micro", "56");
  const Plan plan = make_plan(options, facts, memory, gpus(2));
  EXPECT_THAT(error_of([&] { check_new_batch(plan, options); }),
              HasSubstr("set batch.micro to at most 35, and batch.global to at most 10"));
}

}  // namespace
}  // namespace lockstep
