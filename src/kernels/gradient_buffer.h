// Where a parameter's gradient is added up, for operations that write it there themselves.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// parameter: a leaf that keeps its handle (the arena's). buffer: f32, of its shape, contiguous. An
// operation that finds one adds its gradient into it during backward and returns none to autograd,
// which saves a tensor, a cast and an addition a parameter. Thread-safe.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& buffer);
void forget_gradient_buffer(const at::Tensor& parameter);
// Undefined if there is none.
at::Tensor gradient_buffer(const at::Tensor& parameter);

}  // namespace lockstep
