// A batch far beyond the data or the memory is refused, with sizes that work.
#include "plan/batch_limits.h"

#include "base/error.h"
#include "plan_fixtures.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

class BatchLimits : public testing::Test {
 protected:
  BatchLimits() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
  }
  void give(const char* key, std::int64_t value) { options.table.set(key, std::to_string(value)); }
  // "WHAT | HINT", or "" where nothing is refused.
  std::string refusal() const {
    const Plan plan = make_plan(options, facts, memory, devices);
    try {
      check_batch_limits(plan, options);
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "";
  }

  TrainOptions options;
  Facts facts = text_facts();  // 1000 training samples
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.1 * gib};
  std::vector<Device> devices = gpus(2);
};

TEST_F(BatchLimits, RefusesABatchAboveTheDataAndNamesTheLargest) {
  give("batch.global", 1'000'000'000);
  EXPECT_EQ(refusal(),
            "global batch 1000000000 is more than the 1000 training samples that there are | set "
            "batch.global to at most 1000, or leave it out");
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
  memory.measured = true;  // a measured peak is not
  EXPECT_TRUE(contains(refusal(), "as measured"));
}

TEST_F(BatchLimits, WhereNotOneSampleFitsSaysWhatWouldHelp) {
  memory.per_sample_bytes = 100 * gib;
  EXPECT_TRUE(contains(refusal(), "micro-batch 1 needs about 101 GiB"));
  EXPECT_TRUE(contains(refusal(), "a smaller model"));
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

}  // namespace
}  // namespace lockstep
