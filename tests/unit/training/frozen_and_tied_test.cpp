// Parameters that are not trained, and parameters that have two names.
#include "core/base/error.h"
#include "fakes/error_of.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/tied_model.h"
#include "training/gradients/not_finite.h"
#include "training/parameters/weight_check.h"
#include "training/recipe/nn_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <cmath>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TiedModel;
using testing::TiedRecipe;

std::vector<std::string> names_of(const ParameterStorage& storage) {
  std::vector<std::string> names;
  for (const Parameter& parameter : storage.parameters()) names.push_back(parameter.name);
  return names;
}

TEST(FrozenParameters, AreNoPartOfTheArena) {
  TiedModel model(1);
  const ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  EXPECT_THAT(names_of(storage),
              ElementsAre("first.weight", "first.bias", "second.weight", "rare", "unused"));
  ASSERT_EQ(storage.frozen().size(), 2U);
  EXPECT_EQ(storage.frozen().name(0), "scale");
  EXPECT_TRUE(model.scale.equal(at::full({5}, 1.1)));
  EXPECT_TRUE(model.places.equal(at::arange(3)));
  EXPECT_FALSE(model.scale.requires_grad());
}

TEST(FrozenParameters, FloatingOnesAreOfTheComputeDtypeAndOthersOfTheirOwn) {
  TiedModel model(1);
  const ParameterStorage storage(model.parameters(), at::kCPU, at::kBFloat16);
  EXPECT_EQ(model.scale.scalar_type(), at::kBFloat16);
  EXPECT_EQ(model.places.scalar_type(), at::kLong);
  EXPECT_TRUE(storage.frozen().values(0).equal(at::full({5}, 1.1)));  // not rounded
}

TEST(FrozenParameters, OneThatTheModelChangedIsSavedAsItIs) {
  TiedModel model(1);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kBFloat16);
  {
    const at::NoGradGuard no_grad;
    model.scale.fill_(3);
  }
  EXPECT_TRUE(storage.frozen().values(0).equal(at::full({5}, 3.0)));
  storage.frozen().set(0, at::full({5}, 1.3));
  EXPECT_TRUE(storage.frozen().values(0).equal(at::full({5}, 1.3)));
  EXPECT_TRUE(model.scale.equal(at::full({5}, 1.3).to(at::kBFloat16)));
}

TEST(FrozenParameters, OneThatIsNotFiniteIsFound) {
  TiedModel model(1);
  const ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  EXPECT_EQ(weights_not_finite(storage), "");
  const at::NoGradGuard no_grad;
  model.scale.fill_(NAN);
  EXPECT_EQ(weights_not_finite(storage), "scale");
}

TEST(FrozenParameters, ThatDifferOnARankAreFound) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    TiedModel model(1);
    const ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    EXPECT_FALSE(compare_weights(storage, group).found());
    if (group.rank() == 1) model.places.fill_(2);
    EXPECT_EQ(compare_weights(storage, group).parameter, "places");
  });
}

TEST(FrozenParameters, AModelOfNothingElseIsRefused) {
  TiedModel model(1);
  const std::vector<Parameter> frozen{{"scale", model.scale}};
  const auto make = [&] { const ParameterStorage storage(frozen, at::kCPU, at::kFloat); };
  EXPECT_THAT(error_of(make), HasSubstr("no parameter that is trained"));
}

TEST(TiedParameters, LieThereOnceUnderTheFirstName) {
  for (const bool shares_memory_only : {false, true}) {
    TiedModel model(1, shares_memory_only);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    EXPECT_THAT(names_of(storage),
                ElementsAre("first.weight", "first.bias", "second.weight", "rare", "unused"));
    ASSERT_EQ(storage.aliases().size(), 1U);
    EXPECT_EQ(storage.aliases()[0].name, "tied");
    EXPECT_EQ(storage.aliases()[0].of, "second.weight");
    storage.set_weights(2, at::full({3, 16}, 2.5));
    EXPECT_TRUE(model.second.equal(at::full({3, 16}, 2.5)));
    EXPECT_TRUE(model.tied.equal(model.second));
  }
}

TEST(TiedParameters, AFrozenNameOfATrainedOneIsTrained) {
  TiedModel model(1);
  model.tied = model.second.detach();
  auto all = model.parameters();
  std::swap(all[3], all[6]);  // the frozen name comes first
  ASSERT_EQ(all[3].name, "tied");
  ParameterStorage storage(all, at::kCPU, at::kFloat);
  EXPECT_EQ(names_of(storage)[2], "tied");
  storage.set_weights(2, at::full({3, 16}, 2.5));
  EXPECT_TRUE(model.tied.equal(at::full({3, 16}, 2.5)));
  EXPECT_TRUE(model.second.requires_grad());
}

TEST(TiedParameters, ThatShareAPartOfTheirMemoryAreRefused) {
  TiedModel model(1);
  model.tied = model.second.detach().t().set_requires_grad(true);
  const auto make = [&] {
    const ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  };
  EXPECT_THAT(error_of(make), HasSubstr("second.weight and tied share a part of their memory"));
}

// The gradient and the weights after two steps of ranks.
std::vector<at::Tensor> trained(int ranks, bool shares_memory_only, Precision precision) {
  std::vector<at::Tensor> result;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = precision;
    TiedRecipe recipe(shares_memory_only);
    testing::LoadingRank rank(
        options, recipe, group, cpu_backend(),
        {.world_size = ranks, .micro = 12 / ranks, .accumulation = 1, .global = 12}, /*steps=*/2);
    while (!rank.loader.done()) rank.step();
    const ParameterStorage& storage = rank.storage;
    const GradientBuffers& gradients = rank.gradients;
    if (group.rank() != 0) return;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
      result.push_back(storage.view(gradients.flat(), i).clone());
      result.push_back(storage.view(storage.master(), i).clone());
    }
    EXPECT_TRUE(dynamic_cast<TiedModel&>(*rank.model)
                    .scale.equal(at::full({5}, 1.1).to(compute_dtype(precision))));
  });
  return result;
}

TEST(TiedParameters, GetTheGradientOfBothNamesOnAnyNumberOfRanks) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const double tolerance = precision == Precision::fp32 ? 1e-5 : 2e-2;
    const auto one = trained(1, false, precision);
    EXPECT_GT(one[4].norm().item<double>(), 1e-3);
    for (const int ranks : {1, 2})
      for (const bool shares_memory_only : {false, true}) {
        const auto other = trained(ranks, shares_memory_only, precision);
        ASSERT_EQ(other.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i)
          EXPECT_TRUE(at::allclose(other[i], one[i], tolerance, tolerance))
              << ranks << " ranks, tensor " << i;
      }
  }
}

// An embedding whose matrix is the output layer's too, and a layer that is not trained.
struct Net : torch::nn::Module {
  torch::nn::Embedding tokens{nullptr};
  torch::nn::Linear frozen{nullptr}, head{nullptr};
  Net() {
    tokens = register_module("tokens", torch::nn::Embedding(11, 4));
    frozen = register_module("frozen", torch::nn::Linear(4, 4));
    head = register_module("head", torch::nn::Linear(torch::nn::LinearOptions(4, 11).bias(false)));
    head->weight.set_data(tokens->weight.data());
    for (at::Tensor& parameter : frozen->parameters()) parameter.set_requires_grad(false);
    tokens_again = register_module("tokens_again", tokens.ptr());
  }
  std::shared_ptr<torch::nn::EmbeddingImpl> tokens_again;
};

TEST(NnModel, HandsOverFrozenParametersAndAllNamesOfTiedOnes) {
  NnModel<Net> model(std::make_shared<Net>());
  const ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  EXPECT_THAT(names_of(storage), ElementsAre("tokens.weight"));
  EXPECT_EQ(storage.frozen().size(), 2U);
  ASSERT_EQ(storage.aliases().size(), 2U);
  EXPECT_EQ(storage.aliases()[0].name, "head.weight");
  EXPECT_EQ(storage.aliases()[1].name, "tokens_again.weight");
  EXPECT_EQ(storage.aliases()[1].of, "tokens.weight");
  EXPECT_TRUE(model.module().head->weight.is_alias_of(storage.master()));
}

}  // namespace
}  // namespace lockstep
