// Computes the building blocks of attention gates over channels and over spatial positions (CBAM,
// Woo and others, 2018).
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <utility>

namespace lockstep {

// In all functions, x is floating, [B, C, H, W] or [B, C, D, H, W], in any layout. Results have the
// dtype of x and are differentiable; second derivatives use ATen's operators. Our CUDA kernels
// support f32, bf16 and f16, and add up sums in f32 in a fixed order. Other dtypes and devices use
// ATen. All functions throw Error for other shapes and dtypes.

// Returns the mean and the maximum of each row and channel over the spatial elements, [B, C] each.
// If elements tie for the maximum, they share its gradient equally, as in at::amax. Our kernels
// read x once.
std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels(const at::Tensor& x);

// Computes mean_and_max_over_voxels, and also returns x. If other operations read the returned x,
// our kernels add up the gradients of all three results in one pass over x.
struct PooledVoxels {
  at::Tensor mean, largest, x;
};
PooledVoxels pool_voxels(const at::Tensor& x);

// Returns x times a gate per channel, then times a gate per spatial position:
//   u = x * channel_gate;  m = [mean, max] of u over channels, [B, 2, *spatial]
//   y = u * sigmoid(convolution of m with weight, padded with zeros to the same size)
// Arguments:
//   channel_gate   [B, C], in x's dtype or f32
//   weight         [1, 2, k, k] or [1, 2, k, k, k] with k 1, 3, 5 or 7, in x's dtype or f32
// If channels tie for a maximum, they share its gradient equally. The result is differentiable in
// all three arguments, and has the memory format x.suggest_memory_format(). On GPUs, x,
// channel_gate, weight, m and the gates per spatial position are kept for backward.
at::Tensor spatial_gate(const at::Tensor& x, const at::Tensor& channel_gate,
                        const at::Tensor& weight);

// These functions compute mean_and_max_over_voxels and spatial_gate with ATen's operators, on any
// device. Each operator rounds to x's dtype.
std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels_reference(const at::Tensor& x);
at::Tensor spatial_gate_reference(const at::Tensor& x, const at::Tensor& channel_gate,
                                  const at::Tensor& weight);

struct AttentionGateKernels {  // all functions run on the current stream
  void (*pool_forward)(const VoxelPoolForward&) = nullptr;
  void (*pool_backward)(const VoxelPoolBackward&) = nullptr;
  void (*gate_forward)(const SpatialGateForward&) = nullptr;
  void (*gate_backward)(const SpatialGateBackward&) = nullptr;
};
void register_cuda_attention_gate(AttentionGateKernels kernels);

}  // namespace lockstep
