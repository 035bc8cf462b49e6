// Layer norm, fused with the residual sum before it.
#pragma once

#include "ops/dropout/dropout.h"
#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace lockstep {

// Computes sum = x + branch (x itself if branch is undefined), rounded to x's dtype. Then computes
// the layer norm of `sum` over its last dimension D with weight [D] and bias [D], in f32. bias may
// be undefined. x and branch: [..., D], f32|bf16|f16, of the same shape. weight and bias have the
// same dtype. Differentiable in all four. If weight and bias have gradient buffers, gradients go
// there. Returns {sum, normed}.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon);

// The same, but with dropout of the branch before it is added. Results are bitwise those with
// dropout(branch, draw), but need fewer passes on a GPU.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon,
                                                       const DropoutDraw& draw);

// The CUDA kernels support widths that are multiples of 8 up to this. ATen's operators compute the
// rest.
inline constexpr std::int64_t layer_norm_widest = 2048;
// The rows that a block of the backward kernel takes at a time, and the largest number of blocks:
// two for each of an H200's 132 multiprocessors.
inline constexpr std::int64_t layer_norm_block_rows = 8, layer_norm_most_blocks = 264;

struct LayerNormKernels {
  void (*forward)(const LayerNormForward&) = nullptr;  // runs on the current stream
  void (*backward)(const LayerNormBackward&) = nullptr;
  void (*shares)(const LayerNormBackward&) = nullptr;  // after `backward`, for weight and bias
};
void register_cuda_layer_norm(LayerNormKernels kernels);

}  // namespace lockstep
