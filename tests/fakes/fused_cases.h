// The fused operations beside the same of ATen's, with leaves that have gradient buffers, for the
// tests on the CPU and on GPUs.
#pragma once

#include "ops/activation/activation.h"
#include "ops/embedding/embedding.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/linear_of_rows/linear_of_rows.h"
#include "ops/pointwise/pointwise.h"
#include "ops/shared/recompute.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep::testing {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const Tensors&)>;

// An operation, and the same of ATen's. inputs: an input x, then parameters.
struct FusedCase {
  std::string name;
  Tensors inputs;
  Function own, plain;
};

inline std::vector<FusedCase> fused_cases(const at::TensorOptions& options = {}) {
  const auto norm = [](const Tensors& t) {
    const auto [sum, normed] = residual_layer_norm(t[0].mul(2), t[0], t[1], t[2], 1e-5);
    return sum.sin() + normed;
  };
  const auto plain_norm = [](const Tensors& t) {
    const at::Tensor sum = t[0].mul(2) + t[0];
    return sum.sin() + at::layer_norm(sum, {8}, t[1], t[2], 1e-5);
  };
  const auto turned_norm = [](const Tensors& t) {
    return std::get<1>(residual_layer_norm(t[0].t(), {}, t[1], {}, 1e-5));
  };
  const auto block = [](const Tensors& t) {
    return bias_gelu(linear_layer(t[0], t[1]), t[2], true);
  };
  const auto fresh = [&](at::IntArrayRef sizes) { return at::randn(sizes, options); };
  const at::Tensor tokens = at::tensor({2, 0, 2, 1, 4, 2}, options.dtype(at::kLong)).view({2, 3});
  const at::Tensor rows = at::tensor({4, 0, 4, 1}, options.dtype(at::kLong));
  const Tensors wide{fresh({5, 8}), fresh({8}), fresh({8})};
  const Tensors product{fresh({2, 5, 4}), fresh({3, 4}), fresh({3})};
  return {
      {"linear", product, [](const Tensors& t) { return linear_layer(t[0], t[1], t[2]); },
       [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); }},
      {"linear beside another reader", product,
       [](const Tensors& t) {
         const auto [y, x] = linear_layer_beside(t[0], t[1], t[2]);
         return y.mul(x.sum());
       },
       [](const Tensors& t) { return at::linear(t[0], t[1], t[2]).mul(t[0].sum()); }},
      {"linear of rows beside another reader",
       {fresh({5, 8}), fresh({3, 8}), fresh({3})},
       [=](const Tensors& t) {
         const auto [y, x] = linear_of_rows_beside(t[0], rows, t[1], t[2]);
         return y.mul(x.sum());
       },
       [=](const Tensors& t) {
         return at::linear(t[0].index_select(0, rows), t[1], t[2]).mul(t[0].sum());
       }},
      {"linear of rows of a transpose",
       {fresh({8, 5}), fresh({3, 8})},
       [=](const Tensors& t) { return linear_of_rows(t[0].t(), rows, t[1]).sin(); },
       [=](const Tensors& t) { return at::linear(t[0].t().index_select(0, rows), t[1]).sin(); }},
      {"gelu", wide, [](const Tensors& t) { return bias_gelu(t[0], t[1] + t[2], false); },
       [](const Tensors& t) { return at::gelu(t[0] + (t[1] + t[2])); }},
      {"gelu with a bias",
       {wide[0], wide[1]},
       [](const Tensors& t) { return bias_gelu(t[0], t[1], true); },
       [](const Tensors& t) { return at::gelu(t[0] + t[1], "tanh"); }},
      {"relu with a bias",
       {wide[0], wide[1]},
       [](const Tensors& t) { return bias_relu(t[0], t[1]); },
       [](const Tensors& t) { return at::relu(t[0] + t[1]); }},
      {"norm", wide, norm, plain_norm},
      {"norm of a transpose",
       {fresh({8, 5}), wide[1]},
       turned_norm,
       [](const Tensors& t) { return at::layer_norm(t[0].t(), {8}, t[1], {}, 1e-5); }},
      {"embedding",
       {fresh({5, 8}), fresh({3, 8})},
       [=](const Tensors& t) { return embed_tokens(tokens, t[0], t[1]); },
       [=](const Tensors& t) { return at::embedding(t[0], tokens) + t[1]; }},
      {"pointwise convolution",
       {fresh({2, 4, 3, 5}), fresh({3, 4, 1, 1}), fresh({3})},
       [](const Tensors& t) {
         const auto [y, x] = pointwise_convolution_beside(t[0], t[1], t[2]);
         return y.mul(x.sum());
       },
       [](const Tensors& t) { return at::conv2d(t[0], t[1], t[2]).mul(t[0].sum()); }},
      {"recomputed", product,
       [=](const Tensors& t) {
         return recomputed(
             [=](const Tensors& in) {
               return Tensors{block({in[0], t[1], t[2]})};
             },
             {t[0]}, {t[1], t[2]})[0];
       },
       [](const Tensors& t) { return at::gelu(at::linear(t[0], t[1], t[2]), "tanh"); }},
  };
}

// Leaves with gradient buffers that hold 0.
struct Buffered {
  Tensors leaves, buffers;

  explicit Buffered(const Tensors& inputs) {
    for (const at::Tensor& input : inputs) {
      leaves.push_back(input.detach().clone().requires_grad_());
      buffers.push_back(at::zeros(input.sizes(), input.options()));
      set_gradient_buffer(leaves.back(), buffers.back());
    }
  }
  Buffered(const Buffered&) = delete;
  Buffered& operator=(const Buffered&) = delete;
  ~Buffered() {
    for (const at::Tensor& leaf : leaves) forget_gradient_buffer(leaf);
  }
  // What arrived, over autograd or in the buffer.
  at::Tensor arrived(std::size_t i) const {
    return leaves[i].grad().defined() ? leaves[i].grad() + buffers[i] : buffers[i];
  }
};

inline at::Tensor score(const at::Tensor& y) { return y.square().sum() + y.sin().sum(); }

inline Tensors leaves_of(const Tensors& inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  return leaves;
}

// score + |gradient of score by x|^2, as a gradient penalty has it.
inline at::Tensor with_penalty(const Function& function, const Tensors& leaves) {
  const at::Tensor value = score(function(leaves));
  const at::Tensor slope =
      torch::autograd::grad({value}, {leaves[0]}, {}, /*retain_graph=*/true, /*create_graph=*/true)
          .at(0);
  return value + slope.square().sum();
}

}  // namespace lockstep::testing
