// Computes instance norm, fused with the operations after it in residual networks for images and
// volumes: dropout of whole channels, a residual sum and ReLU.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns y = z * channel_scale + skip, or the ReLU of this sum if `relu` is true. Here z = (x -
// mean) / sqrt(variance + epsilon), with the mean and biased variance of each row and channel over
// the spatial elements. There is no weight and no bias.
//   x               [B, C, H, W] or [B, C, D, H, W], floating, in any layout
//   channel_scale   f32 [B, C], at least 0, without gradient; all are 1 if undefined
//   skip            in the shape and dtype of x; undefined if there is no skip
// Because channel_scale is not negative, dropout of channels before the ReLU equals dropout after
// it. The result has the dtype of x and the memory format x.suggest_memory_format(). Our CUDA
// kernels support f32, bf16 and f16. They compute in f32, round once, and add up sums in a fixed
// order. Other dtypes and devices use ATen.
//
// The result is differentiable in x and skip, and second derivatives use ATen's operators. With our
// kernels, x and two numbers per row and channel are kept for backward. With skip and relu, one bit
// per element is kept too. The ReLU passes NaN through. Throws Error for other shapes and dtypes,
// and if a row has only one element per channel.
at::Tensor instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip, bool relu, double epsilon = 1e-5);

// Computes instance_norm_act with ATen's operators, on any device. Each operator rounds to x's
// dtype.
at::Tensor instance_norm_act_reference(const at::Tensor& x, const at::Tensor& channel_scale,
                                       const at::Tensor& skip, bool relu, double epsilon = 1e-5);

// The kernels of instance norm and batch norm: for one norm, and for the sum of two norms.
struct ChannelNormKernels {
  void (*forward)(const ChannelNormForward&) = nullptr;  // runs on the current stream
  void (*backward)(const ChannelNormBackward&) = nullptr;
  void (*forward_pair)(const ChannelNormPairForward&) = nullptr;
  void (*backward_pair)(const ChannelNormPairBackward&) = nullptr;
};
void register_cuda_channel_norm(ChannelNormKernels kernels);

struct PooledNormKernels {
  void (*forward)(const PooledNormForward&) = nullptr;
  void (*backward)(const PooledNormBackward&) = nullptr;
};
void register_cuda_pooled_norm(PooledNormKernels kernels);

}  // namespace lockstep
