// Maps times factors per channel, for several sets of factors at once: depth-wise convolutions of
// kernel size 1 whose kernels come from elsewhere.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// x [B, C, H, W] times each of factors [N, C], floating: [B * N, C, H, W], item b * N + n of x's
// item b and set n. Differentiable, twice by way of ATen. On GPUs, where x is channels-last, of the
// factors' type and C a multiple of eight, by kernels that add up in f32 and always in one order;
// the result and the gradient of x are channels-last then. Throws Error for other shapes and types.
at::Tensor channel_products(const at::Tensor& x, const at::Tensor& factors);

// The same in ATen's operators, on any device.
at::Tensor channel_products_reference(const at::Tensor& x, const at::Tensor& factors);

struct ChannelProductsKernels {
  void (*forward)(const ChannelProducts&) = nullptr;  // on the current stream
  void (*backward)(const ChannelProducts&) = nullptr;
};
void register_cuda_channel_products(ChannelProductsKernels kernels);

}  // namespace lockstep
