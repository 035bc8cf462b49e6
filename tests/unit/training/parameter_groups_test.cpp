// Parameters that a user freezes, and groups with rates and decays of their own.
#include "training/parameters/parameter_groups.h"

#include "fakes/error_of.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/tied_model.h"
#include "training/parameters/freeze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>

#include <cmath>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TiedModel;
using testing::ToyModel;

std::vector<std::string> trained_names(Model& model) {
  std::vector<std::string> names;
  for (const auto& one : sort_parameters(model.parameters()).trained)
    names.push_back(one.parameter.name);
  return names;
}

TEST(Freeze, TakesWhatPatternsNameOutOfTraining) {
  ToyModel model(1);
  freeze(model.parameters(), {"first.*", "unused"});
  EXPECT_THAT(trained_names(model), ElementsAre("second.weight", "rare"));
  ToyModel other(1);
  freeze(other.parameters(), {"*", "!second.*"});
  EXPECT_THAT(trained_names(other), ElementsAre("second.weight"));
}

TEST(Freeze, HoldsForAParameterUnderAllItsNames) {
  for (const bool shares_memory_only : {false, true}) {
    TiedModel model(1, shares_memory_only);
    freeze(model.parameters(), {"tied"});
    EXPECT_FALSE(model.second.requires_grad());
    EXPECT_FALSE(model.tied.requires_grad());
  }
}

TEST(Freeze, RefusesPatternsThatMatchNothingAndWhatLeavesNothing) {
  ToyModel model(1);
  const auto fault = [&](const std::vector<std::string>& patterns) {
    return error_of([&] { freeze(model.parameters(), patterns); });
  };
  EXPECT_THAT(fault({"frist.*"}), HasSubstr("\"frist.*\" | did you mean first.*?"));
  EXPECT_THAT(fault({"first.*", "!haed"}), HasSubstr("\"!haed\""));
  EXPECT_THAT(fault({"*"}), HasSubstr("freezes every parameter"));
}

struct Grouped {
  TrainOptions options;
  ToyModel model{3};
  std::unique_ptr<ParameterStorage> storage;
  std::unique_ptr<GradientBuffers> gradients;
  std::unique_ptr<Optimizer> optimizer;

  explicit Grouped(const std::string& groups, OptimizerKind kind = OptimizerKind::sgd) {
    options.precision = Precision::fp32;
    options.optimizer.kind = kind;
    options.optimizer.lr = 0.1;
    options.optimizer.momentum = 0;
    options.optimizer.clip = 0;
    options.optimizer.weight_decay = 0;
    options.table.set("optimizer.groups", groups);
    storage = std::make_unique<ParameterStorage>(model.parameters(), at::kCPU, at::kFloat);
    gradients = std::make_unique<GradientBuffers>(*storage);
    optimizer = std::make_unique<Optimizer>(options, *gradients);
  }
  // How far each parameter's first element goes in a step with gradient 1.
  std::vector<double> moves(double lr) {
    std::vector<double> before, after;
    const at::NoGradGuard no_grad;
    gradients->flat().fill_(1);
    const auto look = [&](std::vector<double>& into) {
      for (const Parameter& parameter : storage->parameters())
        into.push_back(parameter.tensor.flatten()[0].item<double>());
    };
    look(before);
    optimizer->step(lr);
    look(after);
    for (std::size_t i = 0; i < before.size(); ++i) before[i] -= after[i];
    return before;
  }
};

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
}

TEST(Groups, ARateOfTheirOwnFollowsTheCurve) {
  Grouped grouped("first.*: lr=0.2, second.*: lr_factor=3");
  // first.weight, first.bias, second.weight, rare, unused
  expect_near(grouped.moves(0.1), {0.2, 0.2, 0.3, 0.1, 0.1});
  expect_near(grouped.moves(0.05), {0.1, 0.1, 0.15, 0.05, 0.05});
}

TEST(Groups, AConstantRateDoesNot) {
  Grouped grouped("first.*: lr=0.2 schedule=constant, rare: schedule=constant");
  expect_near(grouped.moves(0.1), {0.2, 0.2, 0.1, 0.1, 0.1});
  expect_near(grouped.moves(0.05), {0.2, 0.2, 0.05, 0.1, 0.05});
}

TEST(Groups, TheFirstThatMatchesCounts) {
  Grouped grouped("*.bias: lr=0.4, first.*: lr=0.2");
  expect_near(grouped.moves(0.1), {0.2, 0.4, 0.1, 0.1, 0.1});
}

TEST(Groups, DecayIsTheUsersWordOverTheRecipes) {
  Grouped grouped("first.bias: weight_decay=0.5, second.*: weight_decay=0", OptimizerKind::adamw);
  grouped.options.optimizer.weight_decay = 0.1;
  const ParameterGroups groups(grouped.options, grouped.storage->parameters(), {});
  EXPECT_EQ(groups.of(0).weight_decay, 0.1);  // first.weight
  EXPECT_EQ(groups.of(1).weight_decay, 0.5);  // first.bias, which the recipe does not decay
  EXPECT_EQ(groups.of(2).weight_decay, 0);    // second.weight
  EXPECT_EQ(groups.of(3).weight_decay, 0);    // rare
  EXPECT_EQ(groups.counts().at(0).parameters, 16);
  EXPECT_EQ(groups.counts().at(1).parameters, 48);
}

TEST(Groups, AreStrongerThanTheRecipesFactor) {
  ToyModel model(1);
  auto parameters = model.parameters();
  for (Parameter& parameter : parameters) parameter.lr_scale = 7;
  TrainOptions options;
  options.optimizer.lr = 0.1;
  options.optimizer.groups = {"first.weight: lr=0.2", "first.bias: weight_decay=1"};
  const ParameterGroups groups(options, parameters, {});
  EXPECT_DOUBLE_EQ(groups.of(0).lr_factor, 2);
  EXPECT_DOUBLE_EQ(groups.of(1).lr_factor, 7);  // the entry says nothing of it
}

TEST(Groups, RefuseWhatMatchesNothingOrComesTooLate) {
  const auto fault = [](const std::string& groups) {
    return error_of([&] { Grouped grouped(groups); });
  };
  EXPECT_THAT(fault("frist.*: lr=1"), HasSubstr("did you mean first.*?"));
  EXPECT_THAT(fault("*: lr=1, first.*: lr=2"), HasSubstr("belongs to an entry before it"));
  ToyModel model(1);
  TrainOptions options;
  options.optimizer.groups = {"trunk.*: lr_factor=2"};
  const ParameterGroups frozen_only(options, model.parameters(), {}, {"trunk.weight"});
  EXPECT_EQ(frozen_only.counts().at(0).parameters, 0);
}

// Shares of the update cut ranges anywhere; every element keeps its own rate.
TEST(Groups, AreTheSameWhereRanksShareTheUpdate) {
  const auto weights = [](int ranks, bool share) {
    std::vector<at::Tensor> result;
    testing::with_ranks(ranks, [&](ProcessGroup& group) {
      TrainOptions options;
      options.precision = Precision::fp32;
      options.shard_optimizer = share;
      options.optimizer.groups = {"second.*: lr=0.05 weight_decay=0.3",
                                  "*.bias: lr_factor=0.1 schedule=constant"};
      testing::ToyRecipe recipe;
      const BatchPlan batch{.world_size = ranks, .micro = 12 / ranks, .global = 12};
      testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch, 4);
      for (int step = 0; step < 4; ++step) rank.step();
      if (group.rank() != 0) return;
      for (const Parameter& parameter : rank.storage.parameters())
        result.push_back(parameter.tensor.detach().clone());
    });
    return result;
  };
  const auto one = weights(1, false), shared = weights(3, true);
  ASSERT_EQ(one.size(), shared.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(at::allclose(one[i], shared[i], 1e-5, 1e-6)) << i;
}

}  // namespace
}  // namespace lockstep
