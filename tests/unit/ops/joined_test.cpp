// Three linear layers as one product, and rows of several tables, against plain autograd.
#include "ops/embedding/embedding_sum.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/linear/joined_linear.h"

#include "core/base/error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <tuple>
#include <vector>

namespace lockstep {
namespace {

using Tensors = std::vector<at::Tensor>;

// Three leaves [sizes]: one behind the other in memory, or each by itself.
ThreeTensors leaves_of(const at::Tensor& values, bool together) {
  ThreeTensors leaves;
  const at::Tensor all = values.clone();
  for (std::size_t i = 0; i < 3; ++i) {
    const at::Tensor part = all[static_cast<std::int64_t>(i)];
    leaves[i] = (together ? part.detach() : part.clone()).requires_grad_();
  }
  return leaves;
}

at::Tensor plain_joined(const at::Tensor& x, const ThreeTensors& weights,
                        const ThreeTensors& biases) {
  Tensors results;
  for (std::size_t i = 0; i < 3; ++i) results.push_back(at::linear(x, weights[i], biases[i]));
  return at::stack(results, -2);
}

struct Given {
  at::Tensor x = at::randn({2, 5, 4}), weights = at::randn({3, 6, 4}), biases = at::randn({3, 6});
};

Tensors plain_gradients(const Given& given) {
  const at::Tensor x = given.x.clone().requires_grad_();
  const ThreeTensors weights = leaves_of(given.weights, false),
                     biases = leaves_of(given.biases, false);
  plain_joined(x, weights, biases).square().sum().backward();
  Tensors all{x.grad()};
  for (const ThreeTensors& three : {weights, biases})
    for (const at::Tensor& leaf : three) all.push_back(leaf.grad());
  return all;
}

TEST(JoinedLinear, EqualsThreeLayersWhereverTheyLie) {
  const Given given;
  const Tensors expected = plain_gradients(given);
  for (const bool together : {false, true}) {
    const at::Tensor x = given.x.clone().requires_grad_();
    const ThreeTensors weights = leaves_of(given.weights, together),
                       biases = leaves_of(given.biases, together);
    const at::Tensor y = joined_linear(x, weights, biases);
    EXPECT_TRUE(at::allclose(y, plain_joined(x, weights, biases), 1e-5, 1e-6));
    y.square().sum().backward();
    std::size_t next = 0;
    EXPECT_TRUE(at::allclose(x.grad(), expected[next++], 1e-4, 1e-5));
    for (const ThreeTensors& three : {weights, biases})
      for (const at::Tensor& leaf : three)
        EXPECT_TRUE(at::allclose(leaf.grad(), expected[next++], 1e-4, 1e-5)) << next;
  }
}

TEST(JoinedLinear, AddsTheGradientOfWhatElseReadsItsInput) {
  const Given given;
  const auto gradient = [&](bool beside) {
    const at::Tensor x = given.x.clone().requires_grad_();
    const ThreeTensors weights = leaves_of(given.weights, true),
                       biases = leaves_of(given.biases, true);
    at::Tensor y, again = x;
    if (beside)
      std::tie(y, again) = joined_linear_beside(x, weights, biases);
    else
      y = joined_linear(x, weights, biases);
    y.square().sum().add(again.sin().sum()).backward();
    return x.grad();
  };
  EXPECT_TRUE(at::allclose(gradient(true), gradient(false), 1e-4, 1e-5));
}

TEST(JoinedLinear, OfAnInputThatOnlyTheOtherReaderUses) {
  const Given given;
  const at::Tensor x = given.x.clone().requires_grad_();
  const ThreeTensors weights = leaves_of(given.weights, true),
                     biases = leaves_of(given.biases, true);
  std::get<1>(joined_linear_beside(x, weights, biases)).sum().backward();
  EXPECT_TRUE(x.grad().eq(1).all().item<bool>());
  EXPECT_FALSE(weights[0].grad().defined());
}

TEST(JoinedLinear, AddsIntoGradientBuffersWhereverTheyLie) {
  const Given given;
  const Tensors expected = plain_gradients(given);
  for (const bool together : {false, true}) {
    const ThreeTensors weights = leaves_of(given.weights, true),
                       biases = leaves_of(given.biases, true);
    const ThreeTensors of_weights = leaves_of(at::full({3, 6, 4}, 2.0), together),
                       of_biases = leaves_of(at::full({3, 6}, 2.0), together);
    for (std::size_t i = 0; i < 3; ++i) {
      set_gradient_buffer(weights[i], of_weights[i].detach());
      set_gradient_buffer(biases[i], of_biases[i].detach());
    }
    joined_linear(given.x, weights, biases).square().sum().backward();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_FALSE(weights[i].grad().defined());
      EXPECT_TRUE(at::allclose(of_weights[i].detach() - 2, expected[1 + i], 1e-4, 1e-5));
      EXPECT_TRUE(at::allclose(of_biases[i].detach() - 2, expected[4 + i], 1e-4, 1e-5));
      forget_gradient_buffer(weights[i]);
      forget_gradient_buffer(biases[i]);
    }
  }
}

TEST(JoinedLinear, GivesNoGradientToWhatIsFrozen) {
  const Given given;
  const Tensors expected = plain_gradients(given);
  const ThreeTensors weights = leaves_of(given.weights, true),
                     biases = leaves_of(given.biases, true);
  weights[1].set_requires_grad(false);
  biases[0].set_requires_grad(false);
  joined_linear(given.x, weights, biases).square().sum().backward();
  EXPECT_FALSE(weights[1].grad().defined());
  EXPECT_FALSE(biases[0].grad().defined());
  EXPECT_TRUE(at::allclose(weights[2].grad(), expected[3], 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(biases[1].grad(), expected[5], 1e-4, 1e-5));
}

TEST(JoinedLinear, HasSecondDerivatives) {
  const Given given;
  const auto second = [&](auto function) {
    const at::Tensor x = given.x.clone().requires_grad_();
    const ThreeTensors weights = leaves_of(given.weights, true),
                       biases = leaves_of(given.biases, true);
    const at::Tensor y = function(x, weights, biases).pow(3).sum();
    torch::autograd::grad({y}, {x}, {}, true, true)[0].square().sum().backward();
    return weights[2].grad();
  };
  EXPECT_TRUE(at::allclose(second(joined_linear), second(plain_joined), 1e-3, 1e-2));
}

TEST(EmbeddingSum, EqualsTheSumOfEmbeddingsWithAndWithoutBuffers) {
  const at::Tensor rows = at::tensor({3, 0, 3, 4}, at::kLong);
  const at::Tensor others = at::tensor({1, 1, 0, 1}, at::kLong);
  const at::Tensor words = at::randn({5, 6}), kinds = at::randn({2, 6});
  const at::Tensor up = at::randn({4, 6});
  const auto gradients = [&](const auto& function, bool buffered) {
    Tensors tables, buffers;
    for (const at::Tensor& values : {words, kinds}) {
      tables.push_back(values.clone().requires_grad_());
      buffers.push_back(at::full(values.sizes(), 2.0));
      if (buffered) set_gradient_buffer(tables.back(), buffers.back());
    }
    const at::Tensor y = function(tables[0], tables[1]);
    y.mul(up).sum().backward();
    Tensors all{y.detach()};
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(tables[i].grad().defined(), !buffered);
      all.push_back(buffered ? buffers[i] - 2 : tables[i].grad());
      forget_gradient_buffer(tables[i]);
    }
    return all;
  };
  const auto sum = [&](const at::Tensor& a, const at::Tensor& b) {
    return embedding_sum({{.rows = rows, .table = a}, {.rows = others, .table = b}});
  };
  const auto plain = [&](const at::Tensor& a, const at::Tensor& b) {
    return at::embedding(a, rows) + at::embedding(b, others);
  };
  const Tensors expected = gradients(plain, false);
  for (const bool buffered : {false, true}) {
    const Tensors found = gradients(sum, buffered);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-5, 1e-6)) << i << buffered;
  }
}

TEST(EmbeddingSum, RefusesRowsThatAreInNoTable) {
  const at::Tensor table = at::randn({5, 6});
  for (const std::int64_t bad : {std::int64_t{5}, std::int64_t{-1}})
    EXPECT_THROW(
        embedding_sum({{.rows = at::tensor({std::int64_t{0}, bad}, at::kLong), .table = table}}),
        Error);
}

}  // namespace
}  // namespace lockstep
