// A linear layer whose weight gradient goes directly into its buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// Returns x [..., in] times weight [out, in] transposed, plus bias [out] if defined.
// Differentiable. If a parameter has a gradient buffer, the matrix product itself adds its gradient
// there in f32.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

// The same, and also returns x for its other readers. The gradient from these readers is added
// within this layer's own product, so that it needs no separate sum.
std::tuple<at::Tensor, at::Tensor> linear_layer_beside(const at::Tensor& x,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias = {});

}  // namespace lockstep
