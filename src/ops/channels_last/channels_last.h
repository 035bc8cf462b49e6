// Makes tensors channels-last, both in memory and in their strides.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns x or a copy of it, dense in the channels-last layout. The result has the strides by which
// ATen recognises this layout. x is [B, C, H, W] or [B, C, D, H, W].
//
// With one channel, contiguous and channels-last tensors have the same bytes, so
// x.contiguous(ChannelsLast) returns x unchanged. A convolution of that x with a weight [N, 1, …]
// returns a contiguous tensor. Copying that tensor to channels-last would cost more than the
// convolution.
at::Tensor as_channels_last(const at::Tensor& x);

}  // namespace lockstep
