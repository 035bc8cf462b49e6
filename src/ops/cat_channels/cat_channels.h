// Concatenates the channels of two tensors, for example in the skip connections of a decoder.
#pragma once

#include "ops/cat_channels/channel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns a tensor with the channels of a, then the channels of b, [B, A + C, …].
//   a   [B, A, H, W] or [B, A, D, H, W], floating, in any layout
//   b   [B, C, H, W] or [B, C, D, H, W], with a's dtype and device
// The result is channels-last if suggest_memory_format() of a or b is. Both gradients are dense and
// in the layout of the result. In contrast, the gradients of at::cat are views of one tensor, and
// each operation that reads a view copies it. On GPUs channels-last tensors need one kernel in
// forward and one in backward. The result is differentiable any number of times. Throws Error for
// other shapes and dtypes.
at::Tensor cat_channels(const at::Tensor& a, const at::Tensor& b);

struct CatChannelsKernels {
  // Copies a and b to `both`. Runs on the current stream.
  void (*join)(const CatChannels&) = nullptr;
  void (*part)(const CatChannels&) = nullptr;  // copies `both` to a and b
};
void register_cuda_cat_channels(CatChannelsKernels kernels);

}  // namespace lockstep
