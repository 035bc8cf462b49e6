// make_plan: lengths, rates, memory and notes.
#include "planning/plan.h"

#include "core/base/error.h"
#include "plan_fixtures.h"
#include "planning/run_setup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace lockstep {
namespace {

class MakePlan : public ::testing::Test {
 protected:
  MakePlan() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
  }

  Plan make() const { return make_plan(options, facts, memory, devices); }

  Error error() const {
    try {
      make();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error("");
  }

  TrainOptions options;
  Facts facts = text_facts();
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.1 * gib};
  std::vector<Device> devices = gpus(2);
};

TEST_F(MakePlan, NamesABatchNormThatNormStatisticsDoesNotReach) {
  facts.batch_norm = true;
  facts.torch_batch_norm = "trunk.bn1";
  const auto warns = [&] {
    return has_note(make_plan(options, facts_from_json(to_json(facts)), {}, gpus(2)),
                    "warning: norm.statistics does not reach trunk.bn1");
  };
  EXPECT_FALSE(warns());
  options.norm.statistics = NormStatistics::frozen;
  EXPECT_TRUE(warns());
  facts.torch_batch_norm = "";
  EXPECT_FALSE(warns());
}

TEST_F(MakePlan, CountsStepsOfAnEpochUpwards) {
  EXPECT_EQ(make().steps_per_epoch, 16);  // 1000 / 64
  facts.train_samples = 1024;
  EXPECT_EQ(make().steps_per_epoch, 16);
  facts.train_samples = 1;
  EXPECT_EQ(make().steps_per_epoch, 1);
}

TEST_F(MakePlan, EndsAtTheSmallerOfStepsAndEpochs) {
  options.stop.epochs = 3;
  EXPECT_EQ(make().total_steps, 48);
  options.stop.steps = 20;
  EXPECT_EQ(make().total_steps, 20);
  EXPECT_TRUE(has_note(make(), "stop.steps ends the run"));
  options.stop.steps = 0;
  EXPECT_EQ(make().total_steps, 48);
  EXPECT_EQ(make().schedule.total_steps, 48);
}

// A recipe or a preset brings a length of its own, which the typed one seems to replace.
TEST_F(MakePlan, WarnsWhereALengthThatNobodyTypedEndsTheRun) {
  const ValueSource typed{.kind = ValueSource::Kind::argument};
  const ValueSource preset{.kind = ValueSource::Kind::preset, .where = "small"};
  options.table.set("stop.steps", "20", preset);
  options.table.set("stop.epochs", "3", typed);
  EXPECT_TRUE(has_note(make(),
                       "warning: stop.steps = 20 ends the run at step 20, before stop.epochs = 3; "
                       "set stop.steps=0 for the whole length"));
  options.table.set("stop.epochs", "1", typed);
  EXPECT_FALSE(has_note(make(), "warning: stop")) << "an epoch has 16 steps";
  options.table.set("stop.steps", "20", typed);
  options.table.set("stop.epochs", "1", preset);
  EXPECT_TRUE(has_note(make(),
                       "warning: stop.epochs = 1 ends the run at step 16, before "
                       "stop.steps = 20; set stop.epochs=0 for the whole length"));
  options.table.set("stop.epochs", "1", typed);
  EXPECT_FALSE(has_note(make(), "warning: stop")) << "both are typed";
}

TEST_F(MakePlan, SaysThatABareNumberIsATimeWhereStepsMayBeMeant) {
  const ValueSource typed{.kind = ValueSource::Kind::argument};
  const char* const note = "checkpoint.every = 16m40s; for steps: checkpoint.every_steps=1000";
  options.table.set("checkpoint.every", "1000", typed);
  EXPECT_TRUE(has_note(make(), note));
  options.table.set_json("checkpoint.every", 1000, {.kind = ValueSource::Kind::file});
  EXPECT_TRUE(has_note(make(), note));
  for (const char* clear : {"1000s", "16m40s", "0"}) {
    options.table.set("checkpoint.every", clear, typed);
    EXPECT_FALSE(has_note(make(), "for steps: ")) << clear;
  }
  options.table.set_json("checkpoint.every", 1000, {.kind = ValueSource::Kind::record});
  EXPECT_FALSE(has_note(make(), "for steps: ")) << "nobody typed it";
}

TEST_F(MakePlan, CutsEpochsWhereTheyAreWritten) {
  options.stop.steps = 0;
  options.batch.global = 2;
  for (std::int64_t steps_per_epoch = 1; steps_per_epoch <= 50; ++steps_per_epoch)
    for (std::int64_t tenths = 1; tenths <= 60; ++tenths) {
      facts.train_samples = 2 * steps_per_epoch;
      options.stop.epochs = static_cast<double>(tenths) / 10;
      EXPECT_EQ(make().total_steps, (tenths * steps_per_epoch + 9) / 10)
          << options.stop.epochs << " epochs of " << steps_per_epoch;
    }
}

TEST_F(MakePlan, AsksForALengthWhereNoneIsSet) {
  options.stop.steps = 0;
  EXPECT_EQ(error().hint(), "set stop.steps or stop.epochs");
}

TEST_F(MakePlan, RefusesEpochsOfUnknownLength) {
  facts.train_samples = 0;
  EXPECT_EQ(make().steps_per_epoch, 0);
  options.stop.epochs = 2;
  EXPECT_TRUE(contains(error().what(), "stop.epochs"));
  EXPECT_TRUE(contains(error().what(), "the number of training samples is not known"));
  options.stop.epochs = 0;
  options.schedule.unit = TimeUnit::epochs;
  EXPECT_EQ(make().total_steps, 100);  // a cosine without warm-up needs no epochs
  options.schedule.warmup = 1;
  EXPECT_TRUE(contains(error().what(), "the number of training samples is not known"));
}

TEST_F(MakePlan, ConvertsEpochsToSteps) {
  options.schedule.kind = "cosine_restarts";
  options.schedule.unit = TimeUnit::epochs;
  options.schedule.warmup = 0.5;
  options.schedule.parameters["period"] = 1.5;
  EXPECT_EQ(make().schedule.warmup_steps, 8);
  EXPECT_EQ(make().schedule.parameters, (std::vector<double>{24, 1}));
  options.schedule.unit = TimeUnit::steps;
  EXPECT_EQ(make().schedule.parameters, (std::vector<double>{1.5, 1}));
}

TEST_F(MakePlan, ScalesTheRateAndSaysSo) {
  options.optimizer.lr = 0.001;
  options.optimizer.base_batch = 16;
  EXPECT_DOUBLE_EQ(make().schedule.base_lr, 0.001);
  EXPECT_FALSE(has_note(make(), "scale_lr"));
  options.optimizer.scale_lr = ScaleLr::linear;
  EXPECT_DOUBLE_EQ(make().schedule.base_lr, 0.004);
  EXPECT_TRUE(has_note(make(), "scale_lr = linear changed the learning rate from 0.001 to 0.004"));
  options.optimizer.scale_lr = ScaleLr::sqrt;
  EXPECT_DOUBLE_EQ(make().schedule.base_lr, 0.002);
  EXPECT_TRUE(has_note(make(), "scale_lr = sqrt changed the learning rate from 0.001 to 0.002"));
  options.optimizer.base_batch = 64;
  EXPECT_FALSE(has_note(make(), "scale_lr"));
}

TEST_F(MakePlan, NeedsTheBatchThatTheRateWasChosenFor) {
  options.optimizer.scale_lr = ScaleLr::linear;
  EXPECT_TRUE(contains(error().hint(), "optimizer.base_batch"));
}

TEST_F(MakePlan, WarnsOfAWarmUpLongerThanTheRun) {
  options.schedule.warmup = 100;
  EXPECT_FALSE(has_note(make(), "warm-up"));
  options.schedule.warmup = 200;
  options.optimizer.lr = 0.01;
  EXPECT_TRUE(has_note(make(), "warm-up takes 200 steps, but the run ends after 100"));
  EXPECT_TRUE(has_note(make(), "; for a tenth of them set schedule.warmup=10"));
  EXPECT_TRUE(has_note(make(), "only rises, to 0.005"));
}

TEST_F(MakePlan, RefusesCurvesThatCannotBe) {
  auto& parameters = options.schedule.parameters;
  options.schedule.kind = "step";
  EXPECT_STREQ(error().what(), "schedule.kind = step needs schedule.every above 0, but it is 0");
  options.schedule.kind = "cosine_restarts";
  EXPECT_TRUE(contains(error().what(), "schedule.period"));
  // Cycles shorter than a step, or that hardly grow, may be any number: counting them would not
  // end.
  parameters["period"] = 1e-9;
  EXPECT_TRUE(contains(error().what(), "schedule.period must be at least a step"));
  parameters["period"] = 10;
  for (const double mult : {0.5, 1 + 1e-12}) {
    parameters["period_mult"] = mult;
    EXPECT_TRUE(contains(error().what(), "schedule.period_mult must be 1, or at least 1.01"));
  }
  options.schedule.kind = "linear";
  options.schedule.min_lr = 1;
  EXPECT_TRUE(contains(error().what(), "schedule.min_lr must be at most the learning rate"));
  options.schedule.kind = "constant";
  EXPECT_EQ(make().total_steps, 100);
}

// A GPU of 16 GiB leaves 0.92 x 16 - 0.5 = 14.22 GiB: 132 samples of 0.1 GiB beside 1 GiB.
TEST_F(MakePlan, TakesTheLargestMicroBatchThatFitsTheSmallestDevice) {
  options.batch.global = 2 * 132 * 133;
  EXPECT_EQ(make().batch.micro, 132);
  memory.per_sample_bytes *= 1.002;
  EXPECT_EQ(make().batch.micro, 114);  // 131 is a prime that 132 x 133 lacks
  devices[1].memory_bytes = static_cast<std::uint64_t>(4 * gib);  // 21 samples fit
  EXPECT_EQ(make().batch.micro, 21);
  EXPECT_TRUE(has_note(make(), "the devices differ"));
}

TEST_F(MakePlan, TakesHalfOfACpuRanksShareOfTheHost) {
  devices = cpu_ranks(2, 4);
  options.batch.global = 200;
  memory.per_sample_bytes = 0.05 * gib;  // (2 - 1) / 0.05
  EXPECT_EQ(make().batch.micro, 20);
}

TEST_F(MakePlan, PicksTheWholeShareWhereNothingLimitsIt) {
  memory.per_sample_bytes = 0;
  EXPECT_EQ(make().batch.micro, 32);
  memory.per_sample_bytes = gib;
  for (Device& device : devices) device.memory_bytes = 0;
  EXPECT_EQ(make().batch.micro, 32);
}

TEST_F(MakePlan, CapsTheAutomaticChoiceAtTheRecipesWish) {
  facts.preferred_micro = 8;
  EXPECT_EQ(make().batch.micro, 8);
  EXPECT_EQ(make().batch.accumulation, 4);
  options.batch.micro = 16;
  EXPECT_EQ(make().batch.micro, 16);
}

TEST_F(MakePlan, WarnsOfAMicroBatchThatDoesNotFitByTheEstimate) {
  options.batch.micro = 160;
  options.batch.global = 320;
  const Plan plan = make();
  EXPECT_EQ(plan.batch.micro, 160);
  EXPECT_DOUBLE_EQ(plan.memory_needed_bytes, memory.fixed_bytes + 160 * memory.per_sample_bytes);
  EXPECT_TRUE(has_note(plan, "warning: micro-batch 160 needs about 17 GiB by estimate"));
  EXPECT_TRUE(has_note(plan, "cuda:0"));
  options.batch.micro = 16;
  EXPECT_FALSE(has_note(make(), "warning"));
}

TEST_F(MakePlan, WarnsWhereNotEvenOneSampleFits) {
  memory.per_sample_bytes = 100 * gib;
  EXPECT_EQ(make().batch.micro, 1);
  EXPECT_TRUE(has_note(make(), "warning: micro-batch 1 needs about 101 GiB"));
}

TEST_F(MakePlan, RefusesAModelLargerThanADevice) {
  memory.fixed_bytes = 17 * gib;
  EXPECT_TRUE(contains(error().what(), "17 GiB"));
  EXPECT_TRUE(contains(error().what(), "cuda:0 (Tesla T4) has 16 GiB"));
  memory.fixed_bytes = 16 * gib;
  EXPECT_TRUE(has_note(make(), "warning"));
}

TEST_F(MakePlan, RoundsADefaultBatchThatDoesNotDivideAndSaysSo) {
  devices = gpus(3);
  EXPECT_EQ(make().batch.global, 63);
  EXPECT_TRUE(has_note(make(),
                       "the effective batch is 63, not the default 64, which does not divide into "
                       "3 GPUs; for the same batch on several numbers of devices set batch.global "
                       "to one that divides into each"));
  EXPECT_TRUE(has_note(make(), "are those of one device with batch.global = 63"));
  EXPECT_FALSE(has_note(make(), "stays"));
  options.table.set("batch.global", "32", {.kind = ValueSource::Kind::preset, .where = "small"});
  devices = cpu_ranks(5);
  EXPECT_EQ(make().batch.global, 30);
  EXPECT_TRUE(has_note(make(), "not the default 32, which does not divide into 5 CPU ranks"));
  devices = gpus(64);
  EXPECT_EQ(make().batch.global, 64);
  devices = gpus(2);
  options.batch.micro = 12;
  EXPECT_EQ(make().batch.global, 24);
  EXPECT_TRUE(has_note(make(), "which does not divide into 2 GPUs x micro-batch 12; for"));
}

TEST_F(MakePlan, RefusesAGivenBatchThatDoesNotDivide) {
  options.table.set("batch.global", "64");
  devices = gpus(3);
  EXPECT_STREQ(error().what(),
               "global batch 64 does not divide into 3 GPUs (needs a multiple of 3)");
  EXPECT_EQ(error().hint(), "set batch.global to 63 or 66");
  devices = cpu_ranks(3);
  EXPECT_TRUE(contains(error().what(), "3 CPU ranks"));
}

TEST_F(MakePlan, KeepsAPresetsBatchWhereTheTwoOtherSizesDisagreeWithIt) {
  options.table.set("batch.global", "64", {.kind = ValueSource::Kind::preset, .where = "small"});
  options.batch.micro = 8;
  options.batch.accumulation = 2;
  EXPECT_TRUE(contains(error().what(), "global batch 64 is not 2 GPUs x micro-batch 8"));
}

TEST_F(MakePlan, SaysThatTheBatchGrowsWhereTheTwoOtherSizesAreFixed) {
  options.batch.micro = 8;
  options.batch.accumulation = 2;
  EXPECT_EQ(make().batch.global, 32);
  EXPECT_FALSE(has_note(make(), "stays"));
  EXPECT_TRUE(has_note(make(), "the effective batch grows with the number of devices"));
  EXPECT_TRUE(has_note(make(), "it is 32 on 2 GPUs, and would be 16 on 1"));
  EXPECT_TRUE(has_note(make(), "are those of one device with batch.global = 32"));
  devices = gpus(1);
  EXPECT_TRUE(has_note(make(), "grows with the number of devices"));
  EXPECT_TRUE(has_note(make(), "it is 16 on 1 GPU;"));
}

TEST_F(MakePlan, SaysThatNoOtherNumberOfDevicesWorksWhereAllSizesAreFixed) {
  options.batch.micro = 8;
  options.batch.accumulation = 2;
  options.batch.global = 32;
  EXPECT_TRUE(has_note(make(), "a new run works on no other number of devices"));
  EXPECT_FALSE(has_note(make(), "stays"));
}

TEST_F(MakePlan, KeepsBatchAndLengthOnAnyNumberOfDevices) {
  options.stop.epochs = 3;
  devices = gpus(1);
  const Plan one = make();
  for (const int count : {2, 4, 8, 16, 32, 64}) {
    devices = gpus(count);
    const Plan many = make();
    EXPECT_EQ(many.batch.global, one.batch.global);
    EXPECT_EQ(many.total_steps, one.total_steps);
    EXPECT_EQ(many.units_per_step, one.units_per_step);
    EXPECT_EQ(learning_rate(many.schedule, 10), learning_rate(one.schedule, 10));
  }
}

TEST_F(MakePlan, RefusesMoreExactSumsThanItCanGoThrough) {
  options.exact = true;
  options.batch = {.micro = 1, .accumulation = std::int64_t{1} << 36};
  EXPECT_TRUE(contains(error().what(), "exact = true adds up at most 1048576 micro-batches"));
}

TEST_F(MakePlan, SaysThatCheckpointsAreFurtherApartThanTheRunIsLong) {
  EXPECT_FALSE(has_note(make(), "longer than the run"));
  options.table.set("checkpoint.every_epochs", "100");
  EXPECT_TRUE(
      has_note(make(),
               "checkpoint.every_epochs = 100 is longer than the run of 100 steps: it saves "
               "nothing before the end, but checkpoint.every = 10m may; "
               "checkpoint.every_steps counts steps"));
  options.table.set("checkpoint.every_epochs", "100", {.kind = ValueSource::Kind::record});
  EXPECT_FALSE(has_note(make(), "longer than the run"));
  options.table.set("checkpoint.every_epochs", "6");  // of 16 steps
  EXPECT_FALSE(has_note(make(), "longer than the run"));
  options.table.set("checkpoint.every_steps", "101");
  options.table.set("checkpoint.every", "0s");
  EXPECT_TRUE(has_note(make(),
                       "checkpoint.every_steps = 101 is longer than the run of 100 steps: it "
                       "saves nothing before the end, but checkpoint.every_epochs = 6 does"));
  options.table.set("checkpoint.every_epochs", "0");
  options.table.set("checkpoint.every_steps", "100");
  const Plan same = make();
  EXPECT_TRUE(has_note(same, "every_steps = 100 is as long as the run of 100 steps: it saves"));
  EXPECT_FALSE(has_note(same, "checkpoint.every_steps counts steps"));
}

TEST_F(MakePlan, SaysWhatDiffersFromOneDeviceAndWhatDoesNot) {
  const Plan two = make();
  EXPECT_TRUE(has_note(two, "the effective batch stays 64 on any number of devices"));
  EXPECT_TRUE(has_note(two, "their order"));
  EXPECT_TRUE(has_note(two, "sums are rounded differently than on one device"));
  options.exact = true;
  EXPECT_FALSE(has_note(make(), "rounded differently"));
  EXPECT_TRUE(has_note(make(), "bitwise"));
  devices = gpus(1);
  EXPECT_TRUE(has_note(make(), "the effective batch stays 64 on any number of devices"));
  EXPECT_TRUE(has_note(make(), "bitwise"));  // one device is one of the numbers
  options.exact = false;
  EXPECT_FALSE(has_note(make(), "bitwise"));
  EXPECT_LT(make().notes.size(), two.notes.size());
}

TEST_F(MakePlan, RefusesBf16OnGpusThatLackIt) {
  devices = gpus(2);
  devices[1].name = "Tesla T4";
  devices[1].compute_major = 7;
  devices[1].compute_minor = 5;
  options.precision = Precision::fp16;
  EXPECT_NO_THROW(make());
  options.precision = Precision::bf16;
  try {
    make();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "precision = bf16, but cuda:1 (Tesla T4) is sm_75 and has no bf16 (needs sm_80 or "
              "newer)");
    EXPECT_NE(error.hint().find("precision=auto"), std::string::npos);
  }
  devices[1].compute_major = devices[1].compute_minor = 0;  // unknown
  EXPECT_NO_THROW(make());
}

TEST_F(MakePlan, SaysWhichWeightsAreEvaluatedWhereTheyAreAveraged) {
  EXPECT_FALSE(has_note(make(), "averaged"));
  options.ema.decay = 0.999;
  EXPECT_TRUE(has_note(make(),
                       "averaged over about the last 1000 updates (ema.decay); evaluation "
                       "and predictions use the average"));
  options.ema.evaluate = false;
  EXPECT_TRUE(has_note(make(), "use the weights themselves"));
}

TEST_F(MakePlan, SharesOutTheOptimizersStateWhereAsked) {
  memory.optimizer_bytes = 0.6 * gib;
  devices = gpus(3);
  options.batch.global = 63;
  EXPECT_DOUBLE_EQ(make().memory.fixed_bytes, gib);
  EXPECT_TRUE(has_note(make(), "every GPU holds the whole model and its optimizer state"));
  options.shard_optimizer = true;
  EXPECT_NEAR(make().memory.fixed_bytes, 0.6 * gib, 1);
  EXPECT_NEAR(make().sharding_saves_bytes, 0.4 * gib, 1);
  EXPECT_TRUE(has_note(make(),
                       "every GPU holds the whole model and 1/3 of its optimizer state, "
                       "which saves 410 MiB a GPU (shard_optimizer)"));
  devices = gpus(1);
  EXPECT_DOUBLE_EQ(make().memory.fixed_bytes, gib);
  EXPECT_TRUE(has_note(make(), "shard_optimizer changes nothing on one device"));
}

TEST_F(MakePlan, CountsTheReduceBufferOfSeveralRanks) {
  facts.parameters = 100'000'000;
  options.reduce_precision = ReducePrecision::bf16;
  EXPECT_DOUBLE_EQ(make().memory.fixed_bytes, gib + 2e8);
  devices = gpus(1);
  EXPECT_DOUBLE_EQ(make().memory.fixed_bytes, gib);
}

// 14.22 GiB are there: 1 GiB fixed and 64 samples of 0.3 GiB need 20.2, and a block that is
// computed again gives 64 x 0.02 GiB back.
TEST_F(MakePlan, ComputesAsManyBlocksAgainAsItTakesToFit) {
  memory = {.fixed_bytes = gib,
            .per_sample_bytes = 0.3 * gib,
            .blocks = 10,
            .block_bytes = 0.025 * gib,
            .recomputed_block_bytes = 0.005 * gib};
  options.batch.micro = 64;
  options.batch.global = 128;
  EXPECT_EQ(make().recomputed_blocks, 0);
  EXPECT_TRUE(has_note(make(), "set memory.recompute=auto"));
  options.memory.recompute = Recompute::automatic;
  EXPECT_EQ(make().recomputed_blocks, 5);
  EXPECT_NEAR(make().memory_needed_bytes, (20.2 - 5 * 1.28) * gib, 1e-3 * gib);
  EXPECT_TRUE(has_note(make(), "activations of 5 of 10 blocks are computed again in backward"));
  EXPECT_TRUE(has_note(make(), "saves 6.4 GiB"));
  EXPECT_FALSE(has_note(make(), "warning"));
  options.batch.micro = 32;
  EXPECT_EQ(make().recomputed_blocks, 0);
  EXPECT_TRUE(has_note(make(), "everything fits"));
  options.memory.recompute = Recompute::blocks;
  EXPECT_EQ(make().recomputed_blocks, 10);
  options.batch.micro = 128;
  options.batch.global = 256;
  options.memory.recompute = Recompute::automatic;
  EXPECT_EQ(make().recomputed_blocks, 10);
  EXPECT_TRUE(has_note(make(), "warning: micro-batch 128"));
}

TEST_F(MakePlan, SaysWhereARecipeDoesNotTellItsBlocks) {
  options.memory.recompute = Recompute::blocks;
  EXPECT_TRUE(has_note(make(), "does not tell how many blocks"));
  EXPECT_EQ(make().recomputed_blocks, 0);
}

TEST_F(MakePlan, SaysHowTheLastStepOfAnEpochIsPadded) {
  EXPECT_TRUE(has_note(make(), "the last step of each epoch holds 40 samples and 24 padding rows"));
  facts.train_samples = 10;
  EXPECT_TRUE(has_note(make(), "warning: there are only 10 training samples, fewer than the 64"));
  facts.train_samples = 63;
  EXPECT_TRUE(has_note(make(), "each epoch is one step of 63 samples and 1 padding row of weight"));
  facts.train_samples = 128;
  EXPECT_FALSE(has_note(make(), "padding"));
}

TEST_F(MakePlan, CountsThePaddingOfTheLastStepInRows) {
  facts.rows_per_sample = 6;
  EXPECT_TRUE(
      has_note(make(), "the last step of each epoch holds 40 samples and 144 padding rows"));
  facts.train_samples = 10;
  EXPECT_TRUE(has_note(make(), "every step sees all of them, and 324 padding rows of weight 0"));
}

TEST_F(MakePlan, SaysWhenTheBatchDividesBadly) {
  options.batch.global = 2 * 509;
  EXPECT_EQ(make().batch.micro, 1);
  EXPECT_TRUE(has_note(make(), "a micro-batch of up to 132 would fit, but 1 is the largest"));
  options.batch.micro = 1;
  EXPECT_FALSE(has_note(make(), "would fit"));
}

}  // namespace
}  // namespace lockstep
