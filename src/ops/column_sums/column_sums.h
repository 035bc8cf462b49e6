// Sums a matrix over its rows. The gradient of a bias is such a sum.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Adds the sum over all rows of `matrix` to `into`. The order of the sum is always the same. The
// function is not differentiable.
//   matrix   [..., n], f32|bf16|f16|f64
//   into     [n], f32 or f64, contiguous, on the same device
void add_column_sums(const at::Tensor& into, const at::Tensor& matrix);

using ColumnSumsKernel = void (*)(const ColumnSums&);  // runs on the current stream
void register_cuda_column_sums(ColumnSumsKernel kernel);

}  // namespace lockstep
