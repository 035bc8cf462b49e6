// Building blocks of attention gates over channels and over places (CBAM, Woo and others, 2018).
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <utility>

namespace lockstep {

// x: [B, C, H, W] or [B, C, D, H, W], f32|bf16|f16 (f64 too, by ATen), in any layout; results have
// x's dtype. Sums are added up in f32, in a fixed order. All are differentiable, and second
// derivatives use ATen's operators. All throw Error for other shapes and types.

// Returns the mean and the maximum of each row and channel over its spatial elements, [B, C] each,
// in one pass. If elements tie for the maximum, they share its gradient equally, as in at::amax.
std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels(const at::Tensor& x);

// The same, and also returns x for its other readers. One pass over x then adds up the gradients of
// all three results, so that their sum needs no separate pass.
struct PooledVoxels {
  at::Tensor mean, largest, x;
};
PooledVoxels pool_voxels(const at::Tensor& x);

// Returns x times a gate per channel, then times a gate per place:
//   u = x * channel_gate;  m = [mean, max] of u over channels, [B, 2, *spatial]
//   y = u * sigmoid(convolution of m with weight, padded with zeros to the same size)
// channel_gate: [B, C], in x's dtype or f32. weight: [1, 2, k, k] or [1, 2, k, k, k] with k 1, 3, 5
// or 7, in x's dtype or f32. If channels tie for a maximum, they share its gradient equally.
// Differentiable in all three. Backward keeps x, channel_gate, weight, m and the gates per place. y
// has the layout that x suggests.
at::Tensor spatial_gate(const at::Tensor& x, const at::Tensor& channel_gate,
                        const at::Tensor& weight);

// The same in ATen's operators, on any device. Each operator rounds to x's dtype.
std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels_reference(const at::Tensor& x);
at::Tensor spatial_gate_reference(const at::Tensor& x, const at::Tensor& channel_gate,
                                  const at::Tensor& weight);

struct AttentionGateKernels {  // all run on the current stream
  void (*pool_forward)(const VoxelPoolForward&) = nullptr;
  void (*pool_backward)(const VoxelPoolBackward&) = nullptr;
  void (*gate_forward)(const SpatialGateForward&) = nullptr;
  void (*gate_backward)(const SpatialGateBackward&) = nullptr;
};
void register_cuda_attention_gate(AttentionGateKernels kernels);

}  // namespace lockstep
