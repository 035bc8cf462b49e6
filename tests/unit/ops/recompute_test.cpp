// Functions that are computed again in backward give the values and gradients of a plain call.
#include "ops/shared/recompute.h"

#include "core/base/error.h"
#include "fakes/error_of.h"
#include "ops/activation/activation.h"
#include "ops/dropout/dropout.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

using Tensors = std::vector<at::Tensor>;

at::Tensor leaf(at::IntArrayRef sizes, double seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const at::Tensor values = at::linspace(seed, seed + 7, count).sin();
  return values.view(sizes).clone().set_requires_grad(true);
}

// A block as models have them, with operations that write gradients into buffers themselves.
struct Rig {
  at::Tensor x = leaf({2, 3, 8}, 1), branch = leaf({2, 3, 8}, 2);
  at::Tensor norm = leaf({8}, 3), shift = leaf({8}, 4), up = leaf({16, 8}, 5), bias = leaf({16}, 6),
             down = leaf({8, 16}, 7);
  at::Tensor counters = at::tensor({7, 3, 0}, at::kLong);
  Tensors buffers;

  Tensors parameters() const { return {norm, shift, up, bias, down}; }
  Tensors block(const Tensors& in) const {
    const auto [sum, normed] = residual_layer_norm(in[0], in[1], norm, shift, 1e-5);
    const at::Tensor active = bias_gelu(linear_layer(normed, up), bias, true);
    return {sum, dropout(linear_layer(active, down), 0.3, counters, 1)};
  }
  PureFunction function() const {
    return [this](const Tensors& in) { return block(in); };
  }
  void use_buffers() {
    for (const at::Tensor& parameter : parameters()) {
      buffers.push_back(at::full(parameter.sizes(), 2.0));
      set_gradient_buffer(parameter, buffers.back());
    }
  }
  ~Rig() {
    for (const at::Tensor& parameter : parameters()) forget_gradient_buffer(parameter);
  }
  Tensors gradients() const {
    Tensors all{x.grad(), branch.grad()};
    for (const at::Tensor& parameter : parameters()) all.push_back(parameter.grad());
    all.insert(all.end(), buffers.begin(), buffers.end());
    return all;
  }
};

// Two blocks in a row, so that the second gets what the first made; backward.
Tensors run(Rig& rig, bool again) {
  const auto block = [&](const Tensors& in) {
    return again ? recomputed(rig.function(), in, rig.parameters()) : rig.block(in);
  };
  const Tensors first = block({rig.x.mul(1), rig.branch.mul(1)});
  const Tensors second = block(first);
  (second[0].square().sum() + second[1].sin().sum()).backward();
  Tensors all{second[0].detach(), second[1].detach()};
  const Tensors gradients = rig.gradients();
  all.insert(all.end(), gradients.begin(), gradients.end());
  return all;
}

void expect_identical(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].defined(), b[i].defined()) << "#" << i;
    EXPECT_TRUE(!a[i].defined() || a[i].equal(b[i])) << "#" << i;
  }
}

TEST(Recomputed, GivesTheGradientsOfAPlainCallToTheBit) {
  Rig plain, again;
  expect_identical(run(again, true), run(plain, false));
  EXPECT_TRUE(again.up.grad().defined());
}

TEST(Recomputed, AddsIntoGradientBuffersOnce) {
  Rig plain, again;
  plain.use_buffers();
  again.use_buffers();
  expect_identical(run(again, true), run(plain, false));
  EXPECT_FALSE(again.up.grad().defined());
  EXPECT_GT((again.buffers[2] - 2).abs().sum().item<double>(), 0);
}

TEST(Recomputed, KeepsNothingOfTheFunctionUntilBackward) {
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl>> inside;
  int calls = 0;
  const at::Tensor weight = leaf({4, 4}, 1), x = leaf({4, 4}, 2);
  const PureFunction function = [&](const Tensors& in) -> Tensors {
    ++calls;
    const at::Tensor hidden = at::tanh(in[0].mm(weight));
    inside.emplace_back(hidden.getIntrusivePtr());
    return {hidden.mm(weight)};
  };
  const Tensors out = recomputed(function, {x}, {weight});
  EXPECT_TRUE(inside.at(0).expired());
  EXPECT_EQ(calls, 1);
  out[0].sum().backward();
  EXPECT_EQ(calls, 2);
  {
    const at::NoGradGuard no_grad;
    recomputed(function, {x}, {weight});
  }
  EXPECT_EQ(calls, 3);
}

TEST(Recomputed, TakesOutputsThatNothingFollowsFromAndInputsWithoutGradient) {
  const at::Tensor weight = leaf({4, 4}, 1), fixed = at::full({4, 4}, 2.0);
  const PureFunction function = [&](const Tensors& in) -> Tensors {
    return {in[0].mm(weight), in[0].mul(3)};
  };
  recomputed(function, {fixed}, {weight})[0].sum().backward();
  EXPECT_EQ(weight.grad()[0][0].item<double>(), 8);
}

TEST(Recomputed, RefusesAParameterThatItWasNotTold) {
  const at::Tensor weight = leaf({4, 4}, 1), other = leaf({4}, 2), x = leaf({4, 4}, 3);
  const PureFunction function = [&](const Tensors& in) -> Tensors {
    return {in[0].mm(weight).add(other)};
  };
  const std::string error =
      error_of([&] { recomputed(function, {x}, {weight})[0].sum().backward(); });
  EXPECT_NE(error.find("uses a parameter of shape [4] that is not among its parameters"),
            std::string::npos)
      << error;
}

}  // namespace
}  // namespace lockstep
