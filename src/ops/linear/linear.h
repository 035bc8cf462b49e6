// A linear layer whose weight gradient goes straight into its buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// x [..., in] times weight [out, in] transposed, plus bias [out] if defined; differentiable. Where
// a parameter has a gradient buffer, its gradient is added there in f32 by the matrix product
// itself.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

// The same, and x again, for what else reads it: the gradient that comes back by that way is added
// within the product of this one's, in place of a sum of its own.
std::tuple<at::Tensor, at::Tensor> linear_layer_beside(const at::Tensor& x,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias = {});

}  // namespace lockstep
