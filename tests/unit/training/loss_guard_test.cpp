// What a loss may do with gradients: ask for them, and nothing else.
#include "fakes/error_of.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"
#include "ops/linear/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <mutex>

namespace lockstep {
namespace {

// The toy with something more in its loss, which may return another first term.
class LossOf : public testing::ToyRecipe {
 public:
  using More = std::function<at::Tensor(testing::ToyModel&, const Batch&, const at::Tensor& sum)>;
  explicit LossOf(More more) : ToyRecipe(48), more_(std::move(more)) {}
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    std::vector<at::Tensor> sums = ToyRecipe::loss(model, batch, context);
    sums[0] = more_(dynamic_cast<testing::ToyModel&>(model), batch, sums[0]);
    return sums;
  }

 private:
  More more_;
};

// The gradients after a step, one behind the other.
at::Tensor gradients_of(LossOf&& recipe, int ranks = 1, Precision precision = Precision::fp32) {
  at::Tensor result;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = precision;
    options.optimizer.clip = 0;
    testing::LoadingRank rank(
        options, recipe, group, cpu_backend(),
        {.world_size = ranks, .micro = 12 / ranks, .accumulation = 4, .global = 48}, 1);
    rank.step(/*lr=*/0);
    const std::lock_guard lock(mutex);
    if (group.rank() == 0) result = rank.gradients.flat().clone();
  });
  return result;
}

std::string refusal_of(LossOf::More more, Precision precision = Precision::fp32) {
  return error_of([&] { gradients_of(LossOf(std::move(more)), 1, precision); });
}

// A penalty on the gradient by the input, as a critic's. The rows are independent, so it is a sum
// over them too.
at::Tensor with_input_penalty(testing::ToyModel& model, const Batch& batch, const at::Tensor& sum) {
  const at::Tensor x = batch.tensors[0].detach().clone().requires_grad_();
  const at::Tensor y = linear_layer(linear_layer(x, model.first, model.bias).tanh(), model.second);
  const at::Tensor slope = torch::autograd::grad({y.square().sum()}, {x}, {}, /*retain_graph=*/true,
                                                 /*create_graph=*/true)[0];
  return sum + (slope.square().sum(1) * batch.row_weight).sum();
}

at::Tensor with_plain_input_penalty(testing::ToyModel& model, const Batch& batch,
                                    const at::Tensor& sum) {
  const at::Tensor x = batch.tensors[0];
  const at::Tensor hidden = at::linear(x, model.first, model.bias).tanh();
  const at::Tensor y = at::linear(hidden, model.second);
  // d sum(y^2) / dx, written out.
  const at::Tensor slope =
      (y * 2).matmul(model.second).mul(hidden.square().neg().add(1)).matmul(model.first);
  return sum + (slope.square().sum(1) * batch.row_weight).sum();
}

TEST(Loss, MayPenaliseAGradientThatItAsksFor) {
  const at::Tensor expected = gradients_of(LossOf(with_plain_input_penalty));
  EXPECT_GT(expected.norm().item<double>(), 0.1);
  for (const int ranks : {1, 2, 3}) {
    const at::Tensor found = gradients_of(LossOf(with_input_penalty), ranks);
    EXPECT_LT((found - expected).norm().item<double>(), 1e-5 * expected.norm().item<double>());
  }
}

TEST(Loss, MayPenaliseTheGradientOfItsOwnWeights) {
  const auto penalise = [](testing::ToyModel& model, const Batch&, const at::Tensor& sum) {
    const at::Tensor slope = torch::autograd::grad({sum}, {model.first}, {}, /*retain_graph=*/true,
                                                   /*create_graph=*/true)[0];
    return sum + slope.square().sum() * 0;
  };
  const at::Tensor plain =
      gradients_of(LossOf([](auto&, const auto&, const at::Tensor& sum) { return sum; }));
  for (const int ranks : {1, 2})
    EXPECT_LT((gradients_of(LossOf(penalise), ranks) - plain).norm().item<double>(), 1e-5);
}

TEST(Loss, ThatGoesBackwardItselfIsRefusedWithTheParametersName) {
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const bool create_graph : {false, true}) {
      const std::string error = refusal_of(
          [=](testing::ToyModel&, const Batch&, const at::Tensor& sum) {
            sum.backward({}, /*retain_graph=*/true, create_graph);
            return sum;
          },
          precision);
      EXPECT_NE(error.find("a backward pass of its own"), error.npos) << error;
      EXPECT_NE(error.find("added a gradient to rare"), error.npos) << error;
      EXPECT_NE(error.find("torch::autograd::grad"), error.npos) << error;
    }
}

TEST(Loss, ThatUpdatesWeightsItselfIsRefusedWithTheirName) {
  const std::string error =
      refusal_of([](testing::ToyModel& model, const Batch&, const at::Tensor& sum) {
        const at::NoGradGuard no_grad;
        model.rare.sub_(0.1);
        return sum;
      });
  EXPECT_NE(error.find("changed the weights rare"), error.npos) << error;
  EXPECT_NE(error.find("in turn"), error.npos) << error;
}

TEST(Loss, ThatUpdatesAFrozenParameterItselfIsRefusedWithItsName) {
  struct WithTeacher : LossOf {
    WithTeacher()
        : LossOf([](testing::ToyModel& model, const Batch&, const at::Tensor& sum) {
            const at::NoGradGuard no_grad;
            model.rare.mul_(0.9);
            return sum;
          }) {}
    std::unique_ptr<Model> build(std::uint64_t seed) override {
      auto model = std::make_unique<testing::ToyModel>(seed);
      model->rare.set_requires_grad(false);
      return model;
    }
  };
  const std::string error = error_of([] { gradients_of(WithTeacher()); });
  EXPECT_NE(error.find("changed the frozen parameter rare"), error.npos) << error;
  EXPECT_NE(error.find("register it as a buffer"), error.npos) << error;
}

}  // namespace
}  // namespace lockstep
