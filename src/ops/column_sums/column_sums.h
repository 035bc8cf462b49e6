// Sums over all rows, which are the gradients of biases.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Adds the sum over all rows of `matrix` [..., n] (f32|bf16|f16|f64) to `into` [n], f32 or f64,
// contiguous, on the same device. The order of the sum is always the same. Not differentiable.
void add_column_sums(const at::Tensor& into, const at::Tensor& matrix);

using ColumnSumsKernel = void (*)(const ColumnSums&);  // runs on the current stream
void register_cuda_column_sums(ColumnSumsKernel kernel);

}  // namespace lockstep
