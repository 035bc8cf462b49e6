// A measured peak is used again only where all that decides memory is the same.
#include "plan/memory_key.h"

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

}  // namespace
}  // namespace lockstep
