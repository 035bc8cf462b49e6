// Layer norm fused with the residual sum before it.
#pragma once

#include "ops/dropout/dropout.h"
#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace lockstep {

// sum = x + branch (x itself if branch is undefined), rounded to x's dtype, and the layer norm of
// `sum` over its last dimension D with weight [D] and bias [D] (bias may be undefined), computed in
// f32. x and branch [..., D], f32|bf16|f16, of one shape; weight and bias of that dtype.
// Differentiable in all four; where weight and bias have gradient buffers, gradients go there.
// Returns {sum, normed}.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon);

// The same with a branch that `draw` drops elements of before it is added: as of dropout(branch,
// draw), to the bit, in fewer passes on a GPU.
std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon,
                                                       const DropoutDraw& draw);

// Widths that the CUDA kernels serve: multiples of 8 up to this; ATen operators serve the rest.
inline constexpr std::int64_t layer_norm_widest = 2048;
// Rows that a block of the backward kernel takes at a time, and most blocks: two for each of an
// H200's 132 processors.
inline constexpr std::int64_t layer_norm_block_rows = 8, layer_norm_most_blocks = 264;

struct LayerNormKernels {
  void (*forward)(const LayerNormForward&) = nullptr;  // on the current stream
  void (*backward)(const LayerNormBackward&) = nullptr;
  void (*shares)(const LayerNormBackward&) = nullptr;  // behind it, of weight and bias
};
void register_cuda_layer_norm(LayerNormKernels kernels);

}  // namespace lockstep
