// The fused operations on the CPU against plain autograd, with and without gradient buffers.
#include "ops/activation/activation.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/embedding/embedding.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/matmul/matmul.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace lockstep {
namespace {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

// Gradients of the sum of weighted outputs; outputs come first. `buffered`: leaves that have a
// gradient buffer, filled with 2 before, whose content is returned less 2.
Tensors outputs_and_gradients(const Function& function, const Tensors& inputs,
                              const std::vector<std::size_t>& buffered = {}) {
  Tensors leaves, buffers(inputs.size());
  for (const at::Tensor& input : inputs)
    leaves.push_back(input.is_floating_point() ? input.detach().clone().requires_grad_() : input);
  for (const std::size_t i : buffered) {
    buffers[i] = at::full(inputs[i].sizes(), 2.0);
    set_gradient_buffer(leaves[i], buffers[i]);
  }
  Tensors all;
  at::Tensor total = at::zeros({});
  for (const at::Tensor& output : function(leaves)) {
    all.push_back(output.detach());
    total = total + output.mul(output.detach() * 0.3 + 1).sum();
  }
  total.backward();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (buffers[i].defined()) {
      EXPECT_FALSE(leaves[i].grad().defined());
      all.push_back(buffers[i] - 2);
      forget_gradient_buffer(leaves[i]);
    } else if (leaves[i].is_floating_point()) {
      all.push_back(leaves[i].grad());
    }
  }
  return all;
}

void expect_equal(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(at::allclose(a[i], b[i], 1e-4, 1e-5)) << "#" << i << "\n" << a[i] << "\n" << b[i];
}

TEST(FusedLinear, EqualsLinearWithAndWithoutBuffers) {
  const Tensors inputs{at::randn({2, 5, 4}), at::randn({3, 4}), at::randn({3})};
  const Function fused = [](const Tensors& t) { return Tensors{linear_layer(t[0], t[1], t[2])}; };
  const Tensors plain = outputs_and_gradients(
      [](const Tensors& t) { return Tensors{at::linear(t[0], t[1], t[2])}; }, inputs);
  expect_equal(outputs_and_gradients(fused, inputs), plain);
  expect_equal(outputs_and_gradients(fused, inputs, {1, 2}), plain);
}

TEST(FusedLinear, AddsLowPrecisionGradientsInFloat) {
  at::Tensor buffer = at::full({3, 4}, 1.0);
  const at::Tensor left = at::randn({7, 3}).to(at::kBFloat16);
  const at::Tensor right = at::randn({7, 4}).to(at::kBFloat16);
  matmul_into(buffer, left.t(), right, {}, true);
  const at::Tensor exact = left.to(at::kFloat).t().mm(right.to(at::kFloat)) + 1;
  EXPECT_TRUE(at::allclose(buffer, exact, 2e-2, 2e-2));
}

TEST(ResidualLayerNorm, EqualsSumAndLayerNorm) {
  const Tensors inputs{at::randn({2, 3, 8}), at::randn({2, 3, 8}), at::randn({8}), at::randn({8})};
  const Function fused = [](const Tensors& t) {
    const auto [sum, normed] = residual_layer_norm(t[0], t[1], t[2], t[3], 1e-5);
    return Tensors{sum, normed};
  };
  const Function plain = [](const Tensors& t) {
    const at::Tensor sum = t[0] + t[1];
    return Tensors{sum, at::layer_norm(sum, {8}, t[2], t[3], 1e-5)};
  };
  const Tensors expected = outputs_and_gradients(plain, inputs);
  expect_equal(outputs_and_gradients(fused, inputs), expected);
  expect_equal(outputs_and_gradients(fused, inputs, {2, 3}), expected);
}

TEST(ResidualLayerNorm, DropsElementsOfTheBranch) {
  const DropoutDraw draw{.p = 0.5, .counters = at::tensor({7, 3, 20}, at::kLong), .layer = 5};
  const Tensors inputs{at::randn({2, 3, 8}), at::randn({2, 3, 8}), at::randn({8}), at::randn({8})};
  const Function fused = [&](const Tensors& t) {
    const auto [sum, normed] = residual_layer_norm(t[0], t[1], t[2], t[3], 1e-5, draw);
    return Tensors{sum, normed};
  };
  const Function plain = [&](const Tensors& t) {
    const at::Tensor sum = t[0] + dropout(t[1], draw);
    return Tensors{sum, at::layer_norm(sum, {8}, t[2], t[3], 1e-5)};
  };
  expect_equal(outputs_and_gradients(fused, inputs), outputs_and_gradients(plain, inputs));
}

TEST(ResidualLayerNorm, WithoutABranchTheSumIsX) {
  const Tensors inputs{at::randn({4, 8}), at::randn({8})};
  const Function fused = [](const Tensors& t) {
    const auto [sum, normed] = residual_layer_norm(t[0], {}, t[1], {}, 1e-5);
    return Tensors{sum, normed};
  };
  const Function plain = [](const Tensors& t) {
    return Tensors{t[0], at::layer_norm(t[0], {8}, t[1], {}, 1e-5)};
  };
  expect_equal(outputs_and_gradients(fused, inputs), outputs_and_gradients(plain, inputs));
}

// Four rows: two real ones, and two of padding that a ragged dropout makes 0.
struct PaddedRows {
  Tensors inputs;     // x, branch, weight, bias, in fp16
  at::Tensor of_out;  // 0 at the padding
  DropoutDraw draw;
};

PaddedRows padded_rows() {
  const auto in_fp16 = [](const at::Tensor& t) { return t.to(at::kHalf); };
  const at::Tensor is_real = at::tensor({1, 1, 0, 0}, at::kFloat).view({4, 1});
  PaddedRows made{
      .inputs = {at::randn({4, 8}) * is_real, at::randn({4, 8}), at::randn({8}), at::zeros({8})},
      .of_out = in_fp16(at::randn({4, 8}) * is_real),
      .draw = {.p = 0.25,
               .counters = at::tensor({7, 3, 20}, at::kLong),
               .offsets = at::tensor({0, 1, 2}, at::kLong),
               .layer = 5}};
  std::transform(made.inputs.begin(), made.inputs.end(), made.inputs.begin(), in_fp16);
  return made;
}

// The output in `type`, then the gradients of all inputs. twice: those of a penalty on gradients.
Tensors normed_in(at::ScalarType type, const PaddedRows& rows, bool twice) {
  Tensors leaves;
  for (const at::Tensor& input : rows.inputs)
    leaves.push_back(input.to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_());
  const at::Tensor out = std::get<1>(
      residual_layer_norm(leaves[0], leaves[1], leaves[2], leaves[3], 1e-12, rows.draw));
  EXPECT_EQ(out.scalar_type(), type);
  Tensors all{out.detach()};
  const Tensors first =
      torch::autograd::grad({out}, leaves, {rows.of_out.to(type)}, twice, /*create_graph=*/twice);
  all.insert(all.end(), first.begin(), first.end());
  if (!twice) return all;
  first[0].to(at::kFloat).square().sum().backward();
  for (const std::size_t i : {0, 1, 2}) all.push_back(leaves[i].grad());
  return all;
}

// Dropout makes padding 0, so that 1/deviation there is 1e6: more than fp16 holds.
TEST(ResidualLayerNorm, KeepsStatisticsInFloatWhereRowsAreConstantInFp16) {
  const PaddedRows rows = padded_rows();
  for (const bool twice : {false, true}) {
    const Tensors low = normed_in(at::kHalf, rows, twice);
    const Tensors exact = normed_in(at::kFloat, rows, twice);
    ASSERT_EQ(low.size(), exact.size());
    for (std::size_t i = 0; i < low.size(); ++i) {
      EXPECT_TRUE(low[i].isfinite().all().item<bool>()) << "#" << i << "\n" << low[i];
      EXPECT_TRUE(at::allclose(low[i].to(at::kFloat), exact[i].detach(), 2e-2, 2e-2))
          << "#" << i << "\n"
          << low[i] << "\n"
          << exact[i];
    }
  }
}

TEST(ResidualLayerNorm, PassesAGradientThatComesOverTheSumAlone) {
  at::Tensor x = at::randn({4, 8}).requires_grad_(), branch = at::randn({4, 8}).requires_grad_();
  const at::Tensor weight = at::randn({8}).requires_grad_();
  std::get<0>(residual_layer_norm(x, branch, weight, {}, 1e-5)).sum().backward();
  EXPECT_TRUE(x.grad().eq(1).all().item<bool>());
  EXPECT_TRUE(branch.grad().eq(1).all().item<bool>());
}

TEST(BiasGelu, EqualsGelu) {
  const Tensors inputs{at::randn({5, 6}), at::randn({6})};
  for (const bool tanh : {false, true}) {
    const Function fused = [&](const Tensors& t) { return Tensors{bias_gelu(t[0], t[1], tanh)}; };
    const Tensors expected = outputs_and_gradients(
        [&](const Tensors& t) { return Tensors{at::gelu(t[0] + t[1], tanh ? "tanh" : "none")}; },
        inputs);
    expect_equal(outputs_and_gradients(fused, inputs), expected);
    expect_equal(outputs_and_gradients(fused, inputs, {1}), expected);
  }
}

TEST(BiasRelu, EqualsRelu) {
  const Tensors inputs{at::randn({5, 6}), at::randn({6})};
  const Function fused = [](const Tensors& t) { return Tensors{bias_relu(t[0], t[1])}; };
  const Tensors expected = outputs_and_gradients(
      [](const Tensors& t) { return Tensors{at::relu(t[0] + t[1])}; }, inputs);
  expect_equal(outputs_and_gradients(fused, inputs), expected);
  expect_equal(outputs_and_gradients(fused, inputs, {1}), expected);
  const at::Tensor odd = at::tensor({std::nan(""), -1.0, 0.0, 1.0});
  EXPECT_TRUE(at::allclose(bias_relu(odd, {}), at::relu(odd), 0, 0, /*equal_nan=*/true));
}

TEST(RowsByToken, AreTogetherAndAscending) {
  for (const std::int64_t vocab : {1, 3, 40000, 1 << 16, 1 << 20}) {
    const at::Tensor tokens = at::randint(vocab, {5000}, at::kLong);
    const at::Tensor rows = rows_by_token(tokens, vocab);
    std::vector<std::int64_t> newest(static_cast<std::size_t>(vocab), -1);  // row of each token
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
      const auto row = rows[i].item<std::int64_t>(), token = tokens[row].item<std::int64_t>();
      std::int64_t& seen = newest[static_cast<std::size_t>(token)];
      if (token != before) {
        EXPECT_EQ(seen, -1) << "token " << token << " comes again, vocabulary " << vocab;
      }
      EXPECT_LT(seen, row);
      seen = row;
      before = token;
    }
  }
}

TEST(EmbedTokens, EqualsEmbeddingPlusPositions) {
  const Tensors inputs{at::randint(7, {3, 4}, at::kLong), at::randn({7, 5}), at::randn({4, 5})};
  expect_equal(
      outputs_and_gradients(
          [](const Tensors& t) { return Tensors{embed_tokens(t[0], t[1], t[2])}; }, inputs),
      outputs_and_gradients(
          [](const Tensors& t) { return Tensors{at::embedding(t[1], t[0]) + t[2]}; }, inputs));
}

// Its gradient is made with `scale`, whatever comes in backward.
TEST(LinearCrossEntropy, EqualsCrossEntropyOfTheLogits) {
  const at::Tensor targets = at::randint(9, {11}, at::kLong);
  targets[2] = -100;
  targets[7] = -1;
  const at::Tensor scale = at::full({}, 0.25);
  const at::Tensor hidden = at::randn({11, 4}), weight = at::randn({9, 4});
  at::Tensor h = hidden.clone().requires_grad_(), w = weight.clone().requires_grad_();
  const at::Tensor log_p = at::log_softmax(h.mm(w.t()), -1);
  const at::Tensor counted = targets.ge(0);
  const at::Tensor expected =
      -(log_p.gather(1, targets.clamp_min(0).unsqueeze(1)).squeeze(1) * counted).sum();
  (expected * 0.25).backward();
  for (const std::int64_t piece_bytes : {std::int64_t{1}, std::int64_t{150}, std::int64_t{1} << 30})
    for (const bool buffered : {false, true}) {
      at::Tensor own_h = hidden.clone().requires_grad_(), own_w = weight.clone().requires_grad_();
      const at::Tensor buffer = at::full({9, 4}, 2.0);
      if (buffered) set_gradient_buffer(own_w, buffer);
      const at::Tensor loss = linear_cross_entropy(own_h, own_w, targets, scale, piece_bytes);
      (loss * scale).backward();
      if (buffered) forget_gradient_buffer(own_w);
      EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-4);
      EXPECT_TRUE(at::allclose(own_h.grad(), h.grad(), 1e-4, 1e-6));
      EXPECT_TRUE(at::allclose(buffered ? buffer - 2 : own_w.grad(), w.grad(), 1e-4, 1e-5));
    }
}

}  // namespace
}  // namespace lockstep
