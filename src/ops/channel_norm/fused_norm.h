// Instance norm, fused with operations that follow it in residual networks for images and volumes:
// a factor per channel (dropout of whole channels), a residual sum, ReLU.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// With z = (x - mean) / sqrt(variance + epsilon) per row and channel, over the spatial elements
// (biased variance, no weight, no bias):
//   y = relu?(z * channel_scale + skip)
// x: [B, C, H, W] or [B, C, D, H, W], f32|bf16|f16 (f64 too, by ATen), in any layout.
// channel_scale: f32 [B, C], at least 0, or undefined for 1. It gets no gradient. Because factors
// are not negative, dropout of channels after the ReLU gives the same result as before it.
// skip: of x's shape and dtype, or undefined for 0.
// Returns y in x's dtype and in the layout that x suggests (channels-last stays so). The CUDA
// kernels compute everything in f32 and round once. Sums are added up in a fixed order.
// Differentiable in x and skip, and second derivatives use ATen's operators. Backward keeps x, two
// numbers per row and channel, and with skip and relu one bit per element. It keeps neither y nor
// skip. The ReLU passes NaN through. Throws Error for other shapes and types.
at::Tensor instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip, bool relu, double epsilon = 1e-5);

// The same in ATen's operators, on any device. Each operator rounds to x's dtype.
at::Tensor instance_norm_act_reference(const at::Tensor& x, const at::Tensor& channel_scale,
                                       const at::Tensor& skip, bool relu, double epsilon = 1e-5);

// Kernels of instance norm and batch norm: one norm, and the sum of two.
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
