// Computes a linear layer. The gradient of its weight is added directly to the weight's gradient
// buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// Returns x [..., in] times weight [out, in] transposed, plus bias [out] if defined. The result is
// differentiable. If weight has a gradient buffer (gradient_buffer.h), the matrix product for the
// weight's gradient adds to that buffer in f32. If bias has a gradient buffer, its gradient is
// added there.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

// Computes linear_layer, and also returns x as the second result. Other operations that need x
// should read the second result. The product for the gradient of x then also adds the gradients
// from these operations, so no separate sum is needed.
std::tuple<at::Tensor, at::Tensor> linear_layer_beside(const at::Tensor& x,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias = {});

}  // namespace lockstep
