// Makes tensors channels-last, in memory and in their strides.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// x: [B, C, H, W] or [B, C, D, H, W]. Returns x or a copy, dense in the channels-last layout, with
// the strides by which ATen's operators recognise this layout. With one channel both layouts have
// the same bytes, and x.contiguous(ChannelsLast) returns x unchanged. A convolution of x with a
// weight [N, 1, …] then returns the contiguous layout. Copying that result to channels-last would
// cost more than the convolution.
at::Tensor as_channels_last(const at::Tensor& x);

}  // namespace lockstep
