// A linear layer whose weight gradient goes straight into the arena.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// x [..., in] times weight [out, in] transposed, plus bias [out] if defined; differentiable. Where
// a parameter has a gradient buffer, its gradient is added there in f32 by the matrix product
// itself.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace lockstep
