// Computes layer norm, fused with the residual sum before it.
#pragma once

#include "ops/dropout/dropout.h"
#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace lockstep {

// Computes sum = x + branch, rounded to x's dtype, and the layer norm of `sum` over its last
// dimension. Returns {sum, normed}. The norm is computed in f32.
//   x        [..., D], f32|bf16|f16
//   branch   shape and dtype of x; undefined if sum is x
//   weight   [D]
//   bias     [D] in the dtype of weight, or undefined
// The results are differentiable in all four tensors. Gradients of weight and bias are added to
// their gradient buffers, if they have them.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon);

// Computes the same, but with dropout of the branch before the sum. Results are bitwise those with
// dropout(branch, draw). GPUs need fewer passes.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon,
                                                       const DropoutDraw& draw);

// The largest width for our CUDA kernels, which also need a multiple of 8. ATen computes other
// widths.
inline constexpr std::int64_t layer_norm_widest = 2048;
// The number of rows that a thread block of the backward kernel handles at a time, and the largest
// number of thread blocks. The latter is two for each of an H200's 132 multiprocessors.
inline constexpr std::int64_t layer_norm_block_rows = 8, layer_norm_most_blocks = 264;

struct LayerNormKernels {
  void (*forward)(const LayerNormForward&) = nullptr;  // runs on the current stream
  void (*backward)(const LayerNormBackward&) = nullptr;
  void (*shares)(const LayerNormBackward&) = nullptr;  // after `backward`: weight and bias
};
void register_cuda_layer_norm(LayerNormKernels kernels);

}  // namespace lockstep
