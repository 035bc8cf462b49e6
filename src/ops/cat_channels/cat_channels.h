// Channels of two tensors in one, as decoders join what comes from below with what they kept.
#pragma once

#include "ops/cat_channels/channel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// a [B, A, H, W] and b [B, C, H, W], or both with depth, floating, of one type and device, in any
// layout. Returns [B, A + C, …], a's channels first: channels-last if a or b suggests that. Both
// gradients are dense and in that layout, where those of at::cat are views of one tensor that
// whoever reads them copies. On GPUs channels-last tensors take one kernel each way.
// Differentiable any number of times. Throws Error for other shapes and types.
at::Tensor cat_channels(const at::Tensor& a, const at::Tensor& b);

struct CatChannelsKernels {
  void (*join)(const CatChannels&) = nullptr;  // a and b into both, on the current stream
  void (*part)(const CatChannels&) = nullptr;  // both into a and b
};
void register_cuda_cat_channels(CatChannelsKernels kernels);

}  // namespace lockstep
