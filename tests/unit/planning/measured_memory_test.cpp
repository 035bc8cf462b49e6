// A measured peak is used again only where all that decides memory is the same; trying out takes
// few tries and finds the largest micro-batch that fits.
#include "planning/memory/measured_memory.h"

#include "plan_fixtures.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct Recipe : RecipeOptions {
  std::int64_t width = 64, context = 128;
  std::string prompt;
  Recipe() {
    table.add("model.width", width, {.meaning = "of the model"});
    table.add("data.context", context, {.meaning = "tokens of a sample"});
    table.add("predict.prompt", prompt, {.meaning = "text to go on from"});
  }
};

nlohmann::json key_with(const std::vector<std::string>& options, const Facts& facts = {}) {
  RunSetup setup;
  setup.recipe = "toy";
  setup.train = std::make_unique<TrainOptions>();
  setup.options = std::make_unique<Recipe>();
  setup.prepared.facts = facts;
  const auto tables = setup.tables();
  apply_config(tables, {}, options);
  return memory_key(setup);
}

TEST(MemoryKey, DiffersWithAllThatDecidesMemory) {
  for (const char* option :
       {"model.width=65", "data.context=129", "precision=bf16", "optimizer.kind=sgd",
        "optimizer.momentum=0", "ema.decay=0.9", "memory.recompute=auto", "data.prefetch=9",
        "eval.batch=64", "shard_optimizer=true", "graph=off", "reduce_bucket_mb=7",
        "deterministic=true", "reduce_precision=bf16"})
    EXPECT_NE(key_with({option}), key_with({})) << option;
  EXPECT_NE(key_with({}, {.parameters = 7}), key_with({}));
  EXPECT_NE(key_with({}, {.frozen_parameters = 7}), key_with({}));
  EXPECT_NE(key_with({}, {.units_per_sample = 7}), key_with({}));
}

TEST(MemoryKey, IsTheSameWhateverElseChanges) {
  for (const char* option :
       {"seed=7", "predict.prompt=x", "optimizer.lr=0.5", "schedule.kind=constant", "stop.steps=9",
        "batch.global=64", "batch.micro=2", "checkpoint.keep=9", "log.every_steps=2",
        "data.threads=3", "run.root=elsewhere", "restart=3"})
    EXPECT_EQ(key_with({option}), key_with({})) << option;
}

// An option that comes new counts, and nobody has to think of it here.
TEST(MemoryKey, EveryOptionOfTheEngineCountsUnlessItIsNamed) {
  const nlohmann::json key = key_with({});
  TrainOptions options;
  std::size_t counted = 0;
  for (const std::string& name : options.table.keys()) counted += key["options"].contains(name);
  EXPECT_GT(counted, 10u);
  EXPECT_LT(counted, options.table.keys().size());
}

struct Found {
  std::int64_t micro = 0;
  int tries = 0;
};

// A device that runs out of memory above `oom` bytes, of which `available` may be used.
Found search(std::int64_t share, std::int64_t first, double guess_fixed, double fixed,
             double per_sample, double available, double oom) {
  MicroSearch search(share, first, guess_fixed, available);
  Found found;
  while (const auto micro = search.next()) {
    EXPECT_EQ(share % *micro, 0);
    if (++found.tries > 20) break;
    const double peak = fixed + per_sample * static_cast<double>(*micro);
    search.tried(*micro, peak > oom ? std::nullopt : std::optional(peak));
  }
  found.micro = search.largest();
  return found;
}

TEST(MicroSearch, FindsTheLargestDivisorThatFits) {
  for (const std::int64_t share : {1, 7, 12, 64, 96, 360, 1024})
    for (const double available : {5.0, 20.0, 100.0, 333.0, 5000.0})
      for (const std::int64_t first : {1, 8, 1000}) {
        const Found found = search(share, first, 10, 10, 3, available, available * 1.2);
        std::int64_t best = 0;
        for (std::int64_t divisor = 1; divisor <= share; ++divisor)
          if (share % divisor == 0 && 10 + 3.0 * static_cast<double>(divisor) <= available)
            best = divisor;
        EXPECT_EQ(found.micro, best) << share << " " << available << " " << first;
        EXPECT_LE(found.tries, 6) << share << " " << available << " " << first;
      }
}

TEST(MicroSearch, AWrongGuessOfTheFixedPartCostsTriesAtMost) {
  // Memory beside the estimate makes small micro-batches look dear, so that it tries again.
  const Found found = search(1024, 4, 0, 100, 1, 400, 480);
  EXPECT_EQ(found.micro, 256);
  EXPECT_LE(found.tries, 6);
}

TEST(MicroSearch, TriesOneWhereTheGuessIsThatItFitsAtOnce) {
  EXPECT_EQ(search(64, 64, 10, 10, 1, 1000, 2000).tries, 1);
  EXPECT_EQ(search(64, 64, 10, 10, 1, 1000, 2000).micro, 64);
}

TEST(MicroSearch, FindsNothingWhereNotEvenOneFits) {
  EXPECT_EQ(search(64, 8, 10, 1000, 1, 100, 100).micro, 0);
  EXPECT_EQ(search(64, 8, 10, 1000, 1, 100, 1e9).micro, 0);
}

TEST(MicroSearch, BeginsWhereThePlansEstimateEnds) {
  Plan plan;
  plan.batch = {.world_size = 2, .micro = 8, .accumulation = 4, .global = 64};
  plan.memory.fixed_bytes = 10;
  MicroSearch search(plan, 100);
  EXPECT_EQ(search.next(), 8);
  search.tried(8, 18);  // 1 a sample, so that all 32 fit
  EXPECT_EQ(search.next(), 32);
}

TEST(MicroSearch, ATryAccumulatesTwiceAtMost) {
  const BatchPlan whole{.world_size = 2, .micro = 8, .accumulation = 4, .global = 64};
  for (const std::int64_t micro : {1, 4, 16, 32}) {
    const BatchPlan tried = batch_to_try(whole, micro);
    EXPECT_EQ(tried.micro, micro);
    EXPECT_EQ(tried.accumulation, micro == 32 ? 1 : 2);
    EXPECT_EQ(tried.global, 2 * micro * tried.accumulation);
  }
}

TEST(MicroSearch, AddsTheExactSumsThatATryLeavesOut) {
  Plan tried;
  const BatchPlan whole{.world_size = 1, .micro = 1, .accumulation = 64, .global = 64};
  tried.batch = batch_to_try(whole, 1);
  EXPECT_EQ(bytes_not_tried(tried, whole, 1000), 0);  // not exact
  tried.exact = plan_exact_sum(1, 1, tried.batch.accumulation, 1000);
  const auto buffers = plan_exact_sum(1, 1, 64, 1000).buffers;
  ASSERT_GT(buffers, tried.exact->buffers);
  EXPECT_EQ(bytes_not_tried(tried, whole, 1000),
            4000.0 * static_cast<double>(buffers - tried.exact->buffers));
}

}  // namespace
}  // namespace lockstep
