// The registry of recipes and the defaults of a recipe's options.
#include "planning/recipe_info.h"

#include "core/base/error.h"
#include "core/base/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

RecipeInfo recipe(const std::string& name) {
  return {name, "for tests", [] { return std::make_unique<RecipeOptions>(); }};
}

class Recipes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool once = [] {  // the registry outlives a repetition of the tests
      register_recipe(recipe("sentences"));
      register_recipe(recipe("volumes"));
      return true;
    }();
    ASSERT_TRUE(once);
  }
};

TEST_F(Recipes, AreFoundByName) {
  EXPECT_EQ(find_recipe("volumes").name, "volumes");
  EXPECT_NE(find_recipe("volumes").make_options(), nullptr);
  EXPECT_GE(recipes().size(), 2u);
}

TEST_F(Recipes, HintAtTheNearestName) {
  try {
    find_recipe("volume");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no recipe named \"volume\"");
    EXPECT_EQ(error.hint(), "did you mean \"volumes\"?");
  }
}

TEST_F(Recipes, ListAllNamesWhereNoneIsNear) {
  try {
    find_recipe("xyzzyxyzzy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), ::testing::HasSubstr("sentences, volumes"));
  }
}

TEST_F(Recipes, AreRefusedTheSecondTime) {
  const std::size_t before = recipes().size();
  EXPECT_THROW(register_recipe(recipe("volumes")), Error);
  EXPECT_EQ(recipes().size(), before);
}

TEST(RecipeOptions, EstimateMemoryFromTheParameters) {
  const RecipeOptions recipe;
  TrainOptions train;
  train.precision = Precision::fp32;
  const Facts facts{.parameters = 1000};
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 16000);  // weight, gradient, two moments
  EXPECT_EQ(recipe.memory(train, facts).optimizer_bytes, 8000);
  train.ema.decay = 0.9;
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 20000);
  EXPECT_EQ(recipe.memory(train, facts).optimizer_bytes, 12000);
  train.ema.decay = 0;
  train.precision = Precision::bf16;
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 18000);
  EXPECT_EQ(recipe.memory(train, facts).optimizer_bytes, 12000);  // the fp32 weights too
  train.optimizer.kind = OptimizerKind::sgd;
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 14000);
  train.optimizer.momentum = 0;
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 10000);
  EXPECT_EQ(recipe.memory(train, facts).per_sample_bytes, 0);
  EXPECT_FALSE(recipe.memory(train, facts).measured);
}

TEST(RecipeOptions, CountNothingButTheWeightsOfFrozenParameters) {
  const RecipeOptions recipe;
  TrainOptions train;
  train.precision = Precision::fp32;
  const Facts facts{.parameters = 1000, .frozen_parameters = 100};
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 16400);
  EXPECT_EQ(recipe.memory(train, facts).optimizer_bytes, 8000);
  train.precision = Precision::bf16;
  EXPECT_EQ(recipe.memory(train, facts).fixed_bytes, 18200);
}

TEST(RecipeOptions, LeaveTheNamesOfFilesInExportsAlone) {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "gone.bin").string();
  nlohmann::json extra = {{"train", file},
                          {"all", {{"first", file}, {"classes", {"/m/0199g", "/", "cat/dog"}}}}};
  std::map<std::string, std::string> kept{{"list.txt", file}};
  RecipeOptions().forget_places(extra, kept);
  EXPECT_EQ(extra,
            nlohmann::json(
                {{"train", "gone.bin"},
                 {"all", {{"first", "gone.bin"}, {"classes", {"/m/0199g", "/", "cat/dog"}}}}}));
  EXPECT_EQ(kept.at("list.txt"), file) << "what it means only the recipe knows";
}

TEST(RecipeOptions, KnowNothingOfTheirDataByDefault) {
  RecipeOptions recipe;
  const Prepared prepared = recipe.prepare({});
  EXPECT_EQ(prepared.facts.train_samples, 0);
  EXPECT_EQ(prepared.facts.parameters, 0);
  EXPECT_TRUE(prepared.extra.empty());
}

}  // namespace
}  // namespace lockstep
