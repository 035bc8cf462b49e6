// Gradients that a loss asks for itself, of some tensors, and second derivatives: what nobody asked
// for must not reach the gradient buffers.
#include "fakes/error_of.h"
#include "fakes/fused_cases.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dropout/dropout.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using testing::Buffered, testing::fused_cases, testing::FusedCase, testing::leaves_of;
using testing::score, testing::Tensors, testing::with_penalty;

TEST(PartialBackward, GivesTheGradientThatIsAskedForAndLeavesTheBuffersAlone) {
  for (const FusedCase& test : fused_cases())
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
      const Buffered own(test.inputs);
      const Tensors plain = leaves_of(test.inputs);
      const at::Tensor found =
          torch::autograd::grad({score(test.own(own.leaves))}, {own.leaves[i]}).at(0);
      const at::Tensor expected =
          torch::autograd::grad({score(test.plain(plain))}, {plain[i]}).at(0);
      EXPECT_TRUE(at::allclose(found, expected, 1e-4, 1e-5)) << test.name << " #" << i;
      for (const at::Tensor& buffer : own.buffers)
        EXPECT_TRUE(buffer.eq(0).all().item<bool>()) << test.name << " #" << i;
    }
}

TEST(PartialBackward, ThatAddsUpTheGradientsOfSomeLeavesAddsNoOthers) {
  for (const FusedCase& test : fused_cases())
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
      const Buffered own(test.inputs);
      const Tensors plain = leaves_of(test.inputs);
      torch::autograd::backward({score(test.own(own.leaves))}, {}, std::nullopt, false,
                                {own.leaves[i]});
      torch::autograd::backward({score(test.plain(plain))}, {}, std::nullopt, false, {plain[i]});
      for (std::size_t j = 0; j < test.inputs.size(); ++j) {
        if (i == j) {
          EXPECT_TRUE(at::allclose(own.arrived(j), plain[j].grad(), 1e-4, 1e-5)) << test.name;
        } else {
          EXPECT_TRUE(own.arrived(j).eq(0).all().item<bool>()) << test.name << " #" << j;
        }
      }
    }
}

TEST(PartialBackward, SkipsParametersThatDoNotRequireGrad) {
  for (const FusedCase& test : fused_cases()) {
    Buffered own(test.inputs);
    for (std::size_t i = 1; i < own.leaves.size(); ++i) own.leaves[i].set_requires_grad(false);
    score(test.own(own.leaves)).backward();
    for (std::size_t i = 1; i < own.leaves.size(); ++i)
      EXPECT_TRUE(own.arrived(i).eq(0).all().item<bool>()) << test.name << " #" << i;
  }
}

TEST(SecondDerivative, OfAGradientPenaltyIsThatOfAten) {
  for (const FusedCase& test : fused_cases()) {
    if (test.name == "recomputed") continue;
    const Buffered own(test.inputs);
    const Tensors plain = leaves_of(test.inputs);
    const at::Tensor penalised = with_penalty(test.own, own.leaves);
    const at::Tensor expected = with_penalty(test.plain, plain);
    EXPECT_TRUE(at::allclose(penalised, expected, 1e-4, 1e-4)) << test.name;
    penalised.backward();
    expected.backward();
    for (std::size_t i = 0; i < test.inputs.size(); ++i)
      EXPECT_TRUE(at::allclose(own.arrived(i), plain[i].grad(), 1e-3, 1e-3))
          << test.name << " #" << i << "\n"
          << own.arrived(i) << "\n"
          << plain[i].grad();
  }
}

TEST(SecondDerivative, OfDropoutIsThatOfItsMask) {
  const at::Tensor counters = at::tensor({7, 3, 0}, at::kLong);
  const at::Tensor x = at::randn({3, 8}).requires_grad_();
  const at::Tensor scale = dropout(at::full({3, 8}, 1.0), 0.4, counters, 2);
  const auto slope = [&](const at::Tensor& y) {
    return torch::autograd::grad({y.pow(3).sum()}, {x}, {}, true, true).at(0);
  };
  slope(dropout(x, 0.4, counters, 2)).square().sum().backward();
  const at::Tensor found = x.grad().clone();
  x.mutable_grad().reset();
  slope(x * scale).square().sum().backward();
  EXPECT_TRUE(at::allclose(found, x.grad(), 1e-4, 1e-5));
}

TEST(SecondDerivative, OfWhatIsComputedAgainIsAnErrorThatSaysWhatToDo) {
  for (const FusedCase& test : fused_cases()) {
    if (test.name != "recomputed") continue;
    const Buffered own(test.inputs);
    const std::string error = error_of([&] { with_penalty(test.own, own.leaves); });
    EXPECT_NE(error.find("memory.recompute=none"), std::string::npos) << error;
  }
}

// hidden [4, 3], weight [5, 3].
struct LossRig {
  Buffered own{{at::randn({4, 3}), at::randn({5, 3})}};
  at::Tensor targets = at::tensor({0, 4, -1, 2}, at::kLong), scale = at::full({}, 0.5);
  at::Tensor loss() {
    forget_gradient_buffer(own.leaves[0]);
    return linear_cross_entropy(own.leaves[0], own.leaves[1], targets, scale);
  }
};

TEST(LinearCrossEntropy, RefusesGradientsThatItCannotGive) {
  LossRig some, second;
  const std::string of_some =
      error_of([&] { torch::autograd::grad({some.loss()}, {some.own.leaves[0]}); });
  EXPECT_NE(of_some.find("linear_cross_entropy"), std::string::npos) << of_some;
  const std::string of_second = error_of(
      [&] { torch::autograd::grad({second.loss()}, {second.own.leaves[0]}, {}, true, true); });
  EXPECT_NE(of_second.find("linear_cross_entropy"), std::string::npos) << of_second;
}

TEST(LinearCrossEntropy, AddsNoGradientWhereNoneIsMade) {
  LossRig rig, frozen;
  {
    const at::NoGradGuard no_grad;
    rig.loss();
  }
  frozen.own.leaves[1].set_requires_grad(false);
  (frozen.loss() * frozen.scale).backward();
  EXPECT_TRUE(rig.own.buffers[1].eq(0).all().item<bool>());
  EXPECT_TRUE(frozen.own.buffers[1].eq(0).all().item<bool>());
  EXPECT_TRUE(frozen.own.leaves[0].grad().ne(0).any().item<bool>());
}

TEST(LinearCrossEntropy, ThatIsComputedAgainAddsItsWeightsGradientOnce) {
  LossRig rig;
  (rig.loss() * rig.scale).backward();
  const at::Tensor once = rig.own.buffers[1].clone();
  rig.own.buffers[1].zero_();
  const at::Tensor weight = rig.own.leaves[1];
  const auto function = [&](const Tensors& in) {
    return Tensors{linear_cross_entropy(in[0], weight, rig.targets, rig.scale)};
  };
  (recomputed(function, {rig.own.leaves[0]}, {weight})[0] * rig.scale).backward();
  EXPECT_TRUE(at::allclose(rig.own.buffers[1], once, 1e-5, 1e-6));
}

}  // namespace
}  // namespace lockstep
