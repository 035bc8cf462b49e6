// Multiplies feature maps by factors per channel, for several sets of factors at once. This is a
// depth-wise convolution with kernel size 1, whose weights are computed elsewhere.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Multiplies x [B, C, H, W] by each of N sets of factors [N, C]. Both tensors are floating. Returns
// [B * N, C, H, W]. Item b * N + n of the result is item b of x times set n of the factors. The
// result is differentiable, and second derivatives use ATen's operators. Throws Error for other
// shapes and dtypes.
//
// Our kernels are used on GPUs if x is channels-last and has the dtype of the factors, and if C is
// a multiple of eight. They compute sums in f32, always in the same order. The result and the
// gradient of x are then channels-last.
at::Tensor channel_products(const at::Tensor& x, const at::Tensor& factors);

// Computes channel_products with ATen's operators, on any device.
at::Tensor channel_products_reference(const at::Tensor& x, const at::Tensor& factors);

struct ChannelProductsKernels {
  void (*forward)(const ChannelProducts&) = nullptr;  // runs on the current stream
  void (*backward)(const ChannelProducts&) = nullptr;
};
void register_cuda_channel_products(ChannelProductsKernels kernels);

}  // namespace lockstep
