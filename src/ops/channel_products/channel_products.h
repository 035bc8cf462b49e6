// Multiplies maps by factors per channel, for several sets of factors at once. This is a depth-wise
// convolution of kernel size 1 whose weights are computed elsewhere.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Multiplies x [B, C, H, W] by each set of factors [N, C], floating. Returns [B * N, C, H, W]. Item
// b * N + n comes from x's item b and set n. Differentiable, and second derivatives use ATen's
// operators. Our kernels compute it on GPUs if x is channels-last and has the factors' type, and if
// C is a multiple of eight. They add up in f32, always in the same order. Then the result and the
// gradient of x are channels-last. Throws Error for other shapes and types.
at::Tensor channel_products(const at::Tensor& x, const at::Tensor& factors);

// The same in ATen's operators, on any device.
at::Tensor channel_products_reference(const at::Tensor& x, const at::Tensor& factors);

struct ChannelProductsKernels {
  void (*forward)(const ChannelProducts&) = nullptr;  // runs on the current stream
  void (*backward)(const ChannelProducts&) = nullptr;
};
void register_cuda_channel_products(ChannelProductsKernels kernels);

}  // namespace lockstep
