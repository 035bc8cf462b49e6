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
//   branch   in the shape and dtype of x; if undefined, `sum` is x
//   weight   [D]
//   bias     [D] in the dtype of weight, or undefined
// The results are differentiable in all four tensors. If weight and bias have gradient buffers
// (gradient_buffer.h), their gradients are added there.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon);

// Computes residual_layer_norm(x, dropout(branch, draw), …), bitwise with the same results. GPUs
// need fewer passes over the branch than with a separate dropout.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon,
                                                       const DropoutDraw& draw);

// The largest width D that our CUDA kernels support. They also need a D that is a multiple of 8.
// ATen computes other widths.
inline constexpr std::int64_t layer_norm_widest = 2048;
// The number of rows that a thread block of the backward kernel handles at a time, and the largest
// number of its thread blocks. The largest number is two for each of an H200's 132 multiprocessors.
inline constexpr std::int64_t layer_norm_block_rows = 8, layer_norm_most_blocks = 264;

struct LayerNormKernels {
  void (*forward)(const LayerNormForward&) = nullptr;  // runs on the current stream
  void (*backward)(const LayerNormBackward&) = nullptr;
  void (*shares)(const LayerNormBackward&) = nullptr;  // adds up the shares in `partial`
};
void register_cuda_layer_norm(LayerNormKernels kernels);

}  // namespace lockstep
