// Tensors that lie channels-last and say so.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// x [B, C, H, W] or [B, C, D, H, W], itself or a copy, dense in the channels-last layout and with
// the strides by which ATen's operators know it. With one channel both layouts are the same bytes:
// x.contiguous(ChannelsLast) gives x as it is, and a convolution of it with a weight [N, 1, …]
// answers in the contiguous layout, whose copies to channels-last cost more than the convolution.
at::Tensor as_channels_last(const at::Tensor& x);

}  // namespace lockstep
