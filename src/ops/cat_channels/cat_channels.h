// Concatenates the channels of two tensors, for example in the skip connections of a decoder.
#pragma once

#include "ops/cat_channels/channel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// a [B, A, H, W] and b [B, C, H, W], or both with depth: floating, of the same type and device, in
// any layout. Returns [B, A + C, …], a's channels first. The result is channels-last if a or b
// suggests that. Both gradients are dense and in that layout. In contrast, those of at::cat are
// views of one tensor, and each reader copies them. On GPUs channels-last tensors take one kernel
// in each direction. Differentiable any number of times. Throws Error for other shapes and types.
at::Tensor cat_channels(const at::Tensor& a, const at::Tensor& b);

struct CatChannelsKernels {
  void (*join)(const CatChannels&) = nullptr;  // copies a and b into `both`, on the current stream
  void (*part)(const CatChannels&) = nullptr;  // copies `both` into a and b
};
void register_cuda_cat_channels(CatChannelsKernels kernels);

}  // namespace lockstep
