// Computes a linear layer. The gradient of its weight is added directly to the weight's gradient
// buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// Returns x [..., in] times weight [out, in] transposed, plus bias [out] if defined. The result is
// differentiable. If weight has a gradient buffer, the matrix product for the weight's gradient
// adds to that buffer in f32. The gradient of bias is also added to its buffer.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

// Computes the same, and also returns x. Other operations that read x should read this result. The
// product for the gradient of x then also adds the gradients from these operations, so no separate
// sum is needed.
std::tuple<at::Tensor, at::Tensor> linear_layer_beside(const at::Tensor& x,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias = {});

}  // namespace lockstep
