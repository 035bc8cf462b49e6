// Times are known again where model, batch and kind of devices are the same, wherever the data
// lies.
#include "planning/time_key.h"

#include "plan_fixtures.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct TimedRecipe : RecipeOptions {
  std::int64_t width = 64, tokens = 5;
  double valid_share = 0.2;
  std::string path;
  TimedRecipe() {
    add_item_options();
    table.add("model.width", width, {.meaning = "of the model"});
    table.add("data.path", path, {.meaning = "the data", .is_path = true});
    table.add("data.valid_share", valid_share, {.meaning = "to validate on"});
    table.add("predict.tokens", tokens, {.meaning = "to predict"});
  }
};

RunSetup timed_setup(const std::vector<std::string>& options, const std::vector<Device>& devices) {
  RunSetup setup;
  setup.recipe = "toy";
  setup.train = std::make_unique<TrainOptions>();
  setup.options = std::make_unique<TimedRecipe>();
  const auto tables = setup.tables();
  apply_config(tables, {}, options);
  setup.plan.devices = devices;
  setup.plan.batch.global = setup.train->batch.global;
  return setup;
}

nlohmann::json training_key(const std::vector<std::string>& options,
                            const std::vector<Device>& devices = gpus(2)) {
  return training_time_key(timed_setup(options, devices), "a CPU");
}

TEST(TimeKey, OfTrainingDiffersWithModelBatchAndDevices) {
  for (const char* option : {"model.width=65", "batch.global=8", "precision=bf16", "graph=off"})
    EXPECT_NE(training_key({option}), training_key({})) << option;
  EXPECT_NE(training_key({}, gpus(1)), training_key({}));
  EXPECT_NE(training_key({}, cpu_ranks(2)), training_key({}));
  auto others = gpus(2);
  others[1].name = "NVIDIA L4";
  EXPECT_NE(training_key({}, others), training_key({}));
}

TEST(TimeKey, OfTrainingIsTheSameForOtherDataLengthAndEvaluations) {
  for (const char* option :
       {"data.path=/elsewhere", "stop.steps=9", "eval.every_steps=7", "eval.every_epochs=2",
        "data.valid_share=0.34", "seed=3", "predict.tokens=9", "stop.after=9h"})
    EXPECT_EQ(training_key({option}), training_key({})) << option;
}

TEST(TimeKey, OfAStartGoesByRecipeAndDevicesAlone) {
  const auto key = [](const std::vector<std::string>& options, const std::vector<Device>& devices) {
    return start_time_key(timed_setup(options, devices), "a CPU");
  };
  EXPECT_EQ(key({"model.width=65", "batch.global=8"}, gpus(2)), key({}, gpus(2)));
  EXPECT_NE(key({}, gpus(1)), key({}, gpus(2)));
  EXPECT_NE(key({}, cpu_ranks(2)), key({}, gpus(2)));
}

TEST(TimeKey, OfPredictingGoesByItsOptions) {
  const auto key = [](const std::vector<std::string>& options) {
    return prediction_time_key(timed_setup(options, gpus(1)), gpus(1), 0, "a CPU");
  };
  EXPECT_EQ(key({"data.path=/elsewhere", "data.valid_share=0", "batch.global=8"}), key({}));
  EXPECT_NE(key({"predict.tokens=9"}), key({}));
  EXPECT_NE(key({"model.width=65"}), key({}));
  EXPECT_EQ(key({"predict.input=[\"a\"]", "predict.out=b"}), key({}));
}

TEST(TimeKey, OfPredictingIsForItemsOfAboutTheSameSize) {
  const RunSetup setup = timed_setup({}, gpus(1));
  const auto key = [&](double item_bytes) {
    return prediction_time_key(setup, gpus(1), item_bytes, "a CPU");
  };
  EXPECT_EQ(key(1000), key(1100));
  EXPECT_NE(key(8'000), key(4'000'000)) << "volumes of 20 and of 160 voxels an edge";
  EXPECT_NE(key(0), key(1)) << "unknown";
}

// Training looks it up, and gives a copy of its setup to what predicts.
TEST(TimeKey, OfPredictingIsThatOfACopyOfTheSetup) {
  static const bool once = [] {  // the registry outlives a repetition of the tests
    register_recipe({"timed", "for tests", [] { return std::make_unique<TimedRecipe>(); }});
    return true;
  }();
  ASSERT_TRUE(once);
  RunSetup setup = make_setup("timed", "", true);
  const auto tables = setup.tables();
  const std::vector<std::string> options{"precision=fp32", "stop.steps=9", "predict.tokens=9",
                                         "predict.input=[\"a\"]"};
  apply_config(tables, {}, options);
  setup.prepared.facts = text_facts();
  setup.plan = make_plan(*setup.train, setup.prepared.facts, {}, gpus(2));
  const auto key = [](const RunSetup& of) { return prediction_time_key(of, gpus(2), 0, "a CPU"); };
  const RunSetup copy = setup_from_json(setup_to_json(setup));
  EXPECT_EQ(key(copy), key(setup));
  setup.prepared.facts.parameters = 0;
  EXPECT_NE(key(copy), key(setup)) << "so what is prepared to predict has another one";
}

}  // namespace
}  // namespace lockstep
